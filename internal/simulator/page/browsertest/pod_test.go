package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// createLarge creates a pod that requests memory, on a node or for the scheduler.
func (p *tab) createLarge(name, memory, node string) {
	p.Helper()
	p.post("namespaces/default/pods", fmt.Sprintf(`
metadata: {name: %s, labels: {app: shop}}
spec:
  nodeName: %q
  nodeSelector: {kubernetes.io/hostname: kubecon-1}
  priorityClassName: system-node-critical
  containers: [{name: web, image: web, resources: {requests: {memory: %s}}}]`, name, node, memory))
}

func TestPodSaysWhatItRequestsAndWhatIsFree(t *testing.T) {
	p := open(t, "/")
	p.scheme("light")
	p.createNode("kubecon-1")
	node, err := sim.Client().CoreV1().Nodes().Get(t.Context(), "kubecon-1", metav1.GetOptions{})
	testkit.Must(t, err)
	free := node.Status.Allocatable.Memory().DeepCopy()
	free.Sub(resource.MustParse("3Gi"))
	p.createLarge("created-there", "3Gi", "kubecon-1")
	p.createLarge("too-large", "512Gi", "")
	p.says(".pending", "Insufficient memory")
	p.do(chromedp.Navigate(server.URL() + "/pods/default/too-large"))
	p.says("#verdict", "Insufficient memory: the pod requests 512Gi; the node that lacks it has "+free.String()+" free.")
	for _, fact := range []string{"memory=512Gi", "2000001000 of class system-node-critical", "kubernetes.io/hostname=kubecon-1", "app=shop"} {
		p.says("main .facts", fact)
	}
	p.onEveryScreen("the pod", "#verdict p, .facts dt, .facts dd")

	p.opens("#try-why", ".submit")
	p.onEveryScreen("the form", "#editor h1, #editor .hint, #editor .submit")
	p.result("#editor .submit", "Pod default/too-large is pending because")
	p.says("#result", "Each of these changes was tried alone:", "request "+free.String()+" of memory instead of 512Gi")
	p.onEveryScreen("the result", "h1, #result .name, main .hint")
	p.opens("#result a[href*='/why?']", ".submit")

	p.do(chromedp.Navigate(server.URL() + "/pods/default/created-there"))
	p.says("main", "This simulator did not place the pod: it was created on its node, as imported running pods are.")
	p.says("#verdict", "Running on kubecon-1")
	p.waitFor("nothing needs to help", "!document.querySelector('#try-why')")
	p.click("#verdict a")
	p.says("#panel", "Maximum of pods")
	p.do(chromedp.Navigate(server.URL()))
	p.createPod("placed", "")
	p.do(chromedp.Navigate(server.URL() + "/pods/default/placed"))
	p.says("main .attempt", "Scheduled on kubecon-1")
}
