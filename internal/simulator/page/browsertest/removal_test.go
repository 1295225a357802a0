package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// withShop makes three nodes, each with a pod of a Job that no other node has room for. The second has a
// pod without a controller, too.
func (p *tab) withShop() {
	p.Helper()
	for i := range 3 {
		node := fmt.Sprintf(cloudNode, i)
		p.post("nodes", "metadata: {name: "+node+"}\nstatus: {allocatable: &room {cpu: '4', memory: 8Gi, pods: '10'}, capacity: *room}")
		p.post("namespaces/default/pods", fmt.Sprintf(`
metadata:
  name: checkout-frontend-of-the-european-shop-%d
  ownerReferences: [{apiVersion: example.com/v1, kind: Shop, name: checkout-frontend-of-the-european-shop, uid: shop, controller: true}]
spec: {nodeName: %s, containers: [{name: web, image: web, resources: {requests: {cpu: '3'}}}]}`, i, node))
	}
	p.post("namespaces/default/pods", fmt.Sprintf("metadata: {name: "+cloudPod+"}\nspec: {nodeName: "+cloudNode+", containers: [{name: web, image: web}]}", "bare", 1))
}

func TestDrainIsTriedInACopyOfTheCluster(t *testing.T) {
	p := open(t, "/")
	p.scheme("light")
	p.withShop()
	p.says("#summary", "4 running")
	node := fmt.Sprintf(cloudNode, 1)
	p.click(`[id="node-` + node + `"]`)
	p.waitFor("the panel is open", "document.querySelector('#panel').open && document.querySelector('#try-drain')")
	p.onEveryScreen("the node", "#panel .operations button, #panel .operations .button")
	p.opens("#try-drain", "#force")
	p.says("#editor h1", "Where would its pods go?")
	p.onEveryScreen("the form", "#editor h1, #editor .hint, #editor .submit, #editor .check")
	p.click("#editor .submit")
	p.says("#problems", "no controller recreates these pods: default/")
	p.click("#force")
	p.result("#editor .submit", "Draining "+node+" would leave 1 of 2 pods without another node")
	p.says("#result", "Shop default/checkout-frontend-of-the-european-shop", "0/3 nodes are available: ", node+"\tip-10-0-28-")
	p.says(".command", "kubectl drain --ignore-daemonsets --delete-emptydir-data --force "+node)
	p.says("main", "Tried in memory on a copy of this simulator's cluster, under the current configuration (Unmodified kube-scheduler), with seed 1. Inferred from pods, since the file lacks them: Shop default/checkout-frontend-of-the-european-shop. Webhooks, admission policies, service accounts and autoscalers are not modelled.")
	p.onEveryScreen("the result", "h1, .command code, main .hint")
	is, err := sim.Client().CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	if err != nil || is.Spec.Unschedulable {
		t.Errorf("the cluster has changed: %+v %v", is, err)
	}
}

func TestNodesThatCanGoAreFoundInACopyOfTheCluster(t *testing.T) {
	p := open(t, "/")
	p.scheme("light")
	p.inTheCloud()
	p.says("#summary", "5 running")
	p.onEveryScreen("the nodes", "#nodes-title, #try-shrink")
	p.opens("#try-shrink", "#selector")
	p.onEveryScreen("the form", "#editor h1, #editor .submit, #selector, #prices, #editor .check")
	p.paste("#prices", "perHour: {m5.large: 1}")
	p.click("#editor .submit")
	p.says("#problems", "no node has a price")
	p.paste("#selector", "pool=none")
	p.click("#editor .submit")
	p.says("#problems", "there is no such node: pool=none")
	p.paste("#selector", "")
	p.paste("#prices", "currency: EUR\nperHour: {x2iedn.metal-32xlarge: 26.68}")
	p.click("#force")
	p.result("#editor .submit", "You can remove 1 of 3 nodes, and every running pod still has a node")
	p.says("main", "Removing them saves 26.68 EUR an hour")
	p.says("#go", "NODE\tZONE, INSTANCE TYPE\tPODS\nip-10-0-28-")
	p.says("main", " cannot go: ")
	p.onEveryScreen("the result", "h1, .command code, main .hint")
	p.do(chromedp.Evaluate(`navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }`, nil))
	p.click(".command button")
	p.says("#notices", "Copied")
	p.waitFor("it is copied", "window.copied.startsWith('kubectl drain ')")
	p.click("nav a[href='/results']")
	p.says(".comparisons", "You can remove ")
	p.click(".comparisons .name")
	p.says("h1", "You can remove ")
	p.opens("#result a[href^='/removal']", "#selector")
}
