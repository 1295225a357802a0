package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// withShop makes three nodes, each with a pod of a Job that no other node has room for. The second has a
// pod without a controller, too.
func (p *tab) withShop() {
	p.Helper()
	core, yes := sim.Client().CoreV1(), true
	room := v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("10")}
	run := func(name string, node int, owners ...metav1.OwnerReference) {
		pod := &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners},
			Spec:       v1.PodSpec{NodeName: fmt.Sprintf(cloudNode, node), Containers: []v1.Container{{Name: "web", Image: "web"}}},
		}
		if len(owners) > 0 {
			pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("3")}
		}
		if _, err := core.Pods("default").Create(p.Context(), pod, metav1.CreateOptions{}); err != nil {
			p.Fatal(err)
		}
	}
	for i := range 3 {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf(cloudNode, i)}, Status: v1.NodeStatus{Capacity: room, Allocatable: room}}
		if _, err := core.Nodes().Create(p.Context(), node, metav1.CreateOptions{}); err != nil {
			p.Fatal(err)
		}
		run(fmt.Sprint("checkout-frontend-of-the-european-shop-", i), i,
			metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Shop", Name: "checkout-frontend-of-the-european-shop", UID: "shop", Controller: &yes})
	}
	run(fmt.Sprintf(cloudPod, "bare"), 1)
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
	p.click("#try-drain")
	p.waitFor("the form is there", "document.querySelector('#editor').open && document.querySelector('#editor #force')")
	p.says("#editor h1", "Where would its pods go?")
	p.onEveryScreen("the form", "#editor h1, #editor .hint, #editor .submit, #editor .check")
	p.click("#editor .submit")
	p.says("#problems", "no controller recreates these pods: default/")
	p.click("#force")
	p.click("#editor .submit")
	p.waitWithin(clusters, "the result is shown", "location.pathname.startsWith('/results/')")
	p.says("h1", "Draining "+node+" would leave 1 of 2 pods without another node")
	p.says("#result", "Shop default/checkout-frontend-of-the-european-shop")
	p.says("#result", "0/3 nodes are available: ")
	p.says("#result", node+"\tip-10-0-28-")
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
	p.click("#try-shrink")
	p.waitFor("the form is there", "document.querySelector('#editor').open && document.querySelector('#editor #selector')")
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
	p.click("#editor .submit")
	p.waitWithin(clusters, "the result is shown", "location.pathname.startsWith('/results/')")
	p.says("h1", "You can remove 1 of 3 nodes, and every running pod still has a node")
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
	p.click("#result a[href^='/removal']")
	p.waitFor("the form is there again", "document.querySelector('#editor').open && document.querySelector('#editor #selector')")
}
