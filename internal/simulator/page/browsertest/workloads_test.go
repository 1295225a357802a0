package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// make creates an object by the unedited form of a kind, and returns its name.
func (p *tab) make(kind string) (name string) {
	p.Helper()
	p.form(kind)
	name = nameOf(p.value("#text"))
	p.submit()
	return name
}

func TestDeploymentIsScaledAndItsPodsNameIt(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	name := p.make("deployment")
	p.do(chromedp.Navigate(server.URL() + "/objects"))
	p.says("main", "2 of 2 ready")
	row := "default-" + name
	p.click("#more-deployment-" + row)
	p.says("#notices", "deployment "+name+": 3 replicas")
	p.says("main", "3 of 3 ready")
	for range 2 {
		p.click("#fewer-deployment-" + row)
	}
	p.says("main", "1 of 1 ready")

	p.do(chromedp.Navigate(server.URL() + "/pods"))
	p.says("tbody", "of ReplicaSet "+name)
	p.waitFor("the others are gone", "document.querySelectorAll('tbody tr').length === 1")
	p.panel("tbody a")
	p.says("#panel .kicker", "of ReplicaSet "+name)
	p.click("#owner")
	p.waitFor("its owner is in the form", "document.querySelector('#text')?.value.includes('kind: ReplicaSet')")
	p.waitFor("which names its own", "document.querySelector('#text').value.includes('kind: Deployment')")

	p.do(chromedp.Navigate(server.URL() + "/objects"))
	p.click("#delete-deployment-" + row)
	p.click("#confirm-yes")
	p.waitFor("it is gone", "!document.getElementById('delete-deployment-"+row+"')")
	p.do(chromedp.Navigate(server.URL() + "/pods"))
	p.says("main", "There are no pods.")
}

func TestPastedObjectsAreListed(t *testing.T) {
	p := open(t, "/objects")
	p.form("pod")
	p.paste("#text", `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: two}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: b, c: d}
---
apiVersion: v1
kind: Service
metadata: {name: front}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec: {replicas: 0, template: {metadata: {labels: {app: old}}, spec: {containers: [{name: web, image: web}]}}}
`)
	p.submit()
	for id, note := range map[string]string{
		"poddisruptionbudget-default-two": "0 of 0 pods can be disrupted", "configmap-default-settings": "2 keys",
		"service-default-front": "app=web", "replicationcontroller-default-old": "0 of 0 ready",
	} {
		p.do(chromedp.Navigate(server.URL() + "/objects")) // away from the notice
		p.waitFor(id+" is listed", "document.getElementById("+quote(id)+")?.closest('li').innerText.includes("+quote(note)+")")
		p.click("#delete-" + id)
		p.click("#confirm-yes")
		p.waitFor(id+" is gone", "!document.getElementById("+quote(id)+")")
	}
}

// TestUneditedFormsCreateAPodWithAVolume: a class, a claim, and a pod
// with the line that the claim's form shows.
func TestUneditedFormsCreateAPodWithAVolume(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	p.make("storageclass")
	p.form("persistentvolumeclaim")
	_, use, _ := strings.Cut(p.value("#text"), "#   ")
	use, _, _ = strings.Cut(use, "\n")
	p.submit()
	p.form("pod")
	p.paste("#text", strings.Replace(p.value("#text"), "spec:\n", "spec:\n  "+use+"\n", 1))
	p.submit()
	p.do(chromedp.Navigate(server.URL() + "/pods"))
	p.says("tbody tr", "Running")
	p.do(chromedp.Navigate(server.URL() + "/objects"))
	p.says("main", "1Gi, Bound")
}
