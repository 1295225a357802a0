package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const manifestsThatDoNotFit = `apiVersion: apps/v1
kind: Deployment
metadata: {name: checkout-frontend-of-the-european-shop}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      priorityClassName: high
      containers: [{name: web, image: web, resources: {requests: {cpu: "3"}}}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
`

func TestManifestsAreTriedInACopyOfTheCluster(t *testing.T) {
	p := open(t, "/")
	p.scheme("light")
	p.inTheCloud()
	p.says("#summary", "5 running")
	p.click("#fit")
	p.waitFor("the form is there", "document.querySelector('#editor').open && document.querySelector('#editor #text').value.includes('kind: Deployment')")
	p.onEveryScreen("the form", "#editor h1, #editor .submit, #text, #what")

	p.paste("#text", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n")
	p.click("#editor .submit")
	p.says("#problems", "nothing in the manifests makes pods: there is 1 Service")
	p.paste("#text", manifestsThatDoNotFit)
	p.result("#editor .submit", "2 pods would stay pending")
	p.says("#result", "3 of 5 fit: 3 in northamerica-northeast1-a", "2 pods would stay pending: 0/3 nodes are available: ")
	p.says("main", "1 v1 ConfigMap")
	p.says("#result table", "\tpending")
	p.onEveryScreen("the result", "h1, #result .name, #result li p")
	p.targets()
	made, err := sim.Client().AppsV1().Deployments("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(made.Items) > 0 {
		t.Errorf("it is in the cluster: %v %v", made, err)
	}

	p.click("#result a[href^='/fit']")
	p.paste("#text", strings.Replace(manifestsThatDoNotFit, `cpu: "3"`, "cpu: 1500m", 1))
	p.do(chromedp.SetValue("#what", "until-full", chromedp.ByQuery))
	p.click("#editor .submit")
	p.waitWithin(trial, "how many fit is shown", "document.querySelector('h1').innerText === '4 more replicas would fit'")
	p.says("main", "Limited by: cpu, pods.")
	p.says("#result", "4 more fit")
	p.onEveryScreen("how many fit", "h1, #result .name, #result li p")

	p.click("#result a[href^='/fit']")
	p.paste("#text", manifestsThatDoNotFit)
	p.do(chromedp.SetValue("#what", "rollout", chromedp.ByQuery))
	p.click("#editor .submit")
	p.waitWithin(trial, "whether the rollout ends is shown", "document.querySelector('h1').innerText.startsWith('The rollout of ')")
	p.says("h1", "The rollout of Deployment default/checkout-frontend-of-the-european-shop would not end")
	p.says("#result", "The rollout does not end: ", "+0s\tDeployment default/checkout-frontend-of-the-european-shop\t5 pods created")
	p.says("#summary", "5 running")
	p.click("#result a[href^='/fit']")
	p.waitFor("what was tried is in the form", "document.querySelector('#editor #text')?.value.includes('cpu: \"3\"')")
}

func TestEditOfADeploymentIsTriedBeforeItIsApplied(t *testing.T) {
	p := open(t, "/")
	p.scheme("light")
	p.createNode("kubecon-1")
	name := p.make("deployment")
	p.do(chromedp.Navigate(server.URL() + "/objects"))
	p.says("main", "2 of 2 ready")
	p.click("#deployment-default-" + name)
	p.waitFor("there is no change to try", "document.querySelector('#try-rollout').disabled")
	p.paste("#text", strings.Replace(p.value("#text"), "cpu: 100m", "cpu: 99", 1))
	p.onEveryScreen("the form", "#editor h1, #editor .submit, #try-rollout")
	p.result("#try-rollout", "The rollout of Deployment default/"+name+" would not end")
	p.says("#result", "2 pods of the old revision left")

	p.click("#result a[href^='/edit/']")
	p.waitFor("the edit is in the form", "document.querySelector('#editor #text')?.value.includes('cpu: 99')")
	p.paste("#text", strings.Replace(p.value("#text"), "cpu: 99", "cpu: 200m", 1))
	p.click("#try-rollout")
	p.waitWithin(trial, "the rollout ends", "document.querySelector('h1').innerText.endsWith('would end')")
	p.click("#result a[href^='/edit/']")
	p.submit()
	p.do(chromedp.Navigate(server.URL() + "/objects"))
	p.says("main", "2 of 2 ready")
	changed, err := sim.Client().AppsV1().Deployments("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || changed.Generation != 2 || changed.Spec.Template.Spec.Containers[0].Resources.Requests.Cpu().String() != "200m" {
		t.Errorf("it was not changed once, to what was tried last: %v %v", changed, err)
	}
}
