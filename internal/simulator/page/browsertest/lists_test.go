package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestListOfPodsIsSortedByHeadsAndFilteredByNamespace(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	for _, name := range []string{"web-10", "web-9", "db"} {
		p.createPod(name, "")
	}
	p.says("#summary", "3 running")
	p.says(".totals", "3 of 110")
	p.onEveryScreen("the totals", ".totals dt, .totals span")
	p.do(chromedp.Navigate(server.URL() + "/pods"))
	names := func(want string) {
		p.Helper()
		p.waitFor("the pods are "+want, `[...document.querySelectorAll("tbody th a")].map((a) => a.innerText).join(" ") === `+quote(want))
	}
	p.click("#sort-name")
	names("db web-9 web-10")
	p.at("/pods?sort=name")
	p.click("#sort-name")
	names("web-10 web-9 db")
	p.waitFor("the head says how", "document.querySelector('[aria-sort=descending]').innerText.startsWith('Pod')")
	p.typeIn("#filter", "^web-\\d+$")
	names("web-10 web-9")
	p.at(`/pods?filter=%5Eweb-%5Cd%2B%24&namespace=&sort=-name`)
	p.do(chromedp.Evaluate(`{ const n = document.querySelector("#namespace"); n.value = "kube-system"; n.dispatchEvent(new Event("change", { bubbles: true })); }`, nil))
	p.says("main", "No pod matches")
	p.do(chromedp.Navigate(server.URL() + "/pods?namespace=default&sort=name"))
	names("db web-9 web-10")
	p.click("tbody td a")
	p.says("#panel", "Maximum of pods")
	p.click("#panel #sort-name")
	p.waitFor("the panel is sorted, and the address is the node's", "location.pathname === '/nodes/kubecon-1' && document.querySelector('#panel [aria-sort=ascending]')")
}

func TestObjectsAreFilteredAndOnPages(t *testing.T) {
	p := open(t, "/")
	for i := range 45 {
		p.post("namespaces/default/configmaps", fmt.Sprintf("metadata: {name: settings-%d}", i))
	}
	p.do(chromedp.Navigate(server.URL() + "/objects"))
	p.waitFor("20 of them are shown", `document.querySelectorAll("[id^=configmap-default-]").length === 20`)
	p.waitFor("the page is short", "document.documentElement.scrollHeight < 5000")
	p.click("#configmap-next")
	p.waitFor("the next ones follow", `document.getElementById("configmap-default-settings-25")`)
	p.at("/objects?configmap=2")
	p.typeIn("#filter", "settings-4[0-9]")
	p.says("#configmap-title", "5 of ")
	p.says("main", "None matches.")
	p.do(chromedp.Evaluate("document.querySelector('#filter').select()", nil))
	p.onEveryScreen("the toolbar", ".toolbar label, .toolbar kbd, #configmap-title")
}

func TestEventsOfObjectsAreShown(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	name := p.make("deployment")
	p.do(chromedp.Navigate(server.URL() + "/objects"))
	p.says("main", "2 of 2 ready")
	p.click("#deployment-default-" + name)
	p.click("#editor .happened summary")
	p.says("#editor .events", "ScalingReplicaSet")
	p.do(chromedp.Navigate(server.URL() + "/nodes/kubecon-1"))
	p.click("main .happened summary")
	p.says("main .events", "RegisteredNode")
}
