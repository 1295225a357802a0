package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// clusters is how long it may take that two clusters start and schedule.
const clusters = 3 * time.Minute

func TestWhatIsTypedIsComparedWithWhatRuns(t *testing.T) {
	p := open(t, "/")
	p.configure(head)
	p.createNode("kubecon-1")
	p.createPod("plain", "")
	p.createPod("picky", "nowhere")
	p.waitFor("both are on the node", "document.getElementById('on-default-plain') && document.getElementById('on-default-picky')")
	before := string(sim.SchedulerConfig())

	p.click("#cog")
	p.paste("#text", head+plugins+guestV2)
	p.click("#compare")
	p.waitWithin(clusters, "the comparison is shown", "location.pathname.startsWith('/compare/')")
	p.says("h1", "1 pod has no node under B any more")
	p.waitFor("the pod that is the same is not listed", "!document.getElementById('compared-default-plain')")
	p.click("#compared-default-picky")
	p.says("#panel", "kubecon-1 is refused")
	p.waitFor("both attempts are beside each other", "document.querySelectorAll('#panel .side').length === 2")
	p.says("#panel .side:first-child", "Scheduled on kubecon-1")
	p.says("#panel .side:last-child", "Unschedulable")
	p.click("#panel [data-close]")
	p.closed("#panel")

	p.onAPhone(func() {
		p.waitFor("a name is on one line", "document.querySelector('#compared-default-picky').getClientRects().length === 1")
		p.fits("main h1, main .button, #compared-rows .outcome, #compared-rows td")
	})

	p.do(chromedp.SendKeys("#filter", "no such", chromedp.ByQuery))
	p.says("#compared-rows", "No pod is like that")
	p.click("#edit-b")
	p.waitFor("what was typed is there again", "(document.querySelector('#text')?.value ?? '').includes('regex_v2')")
	if after := string(sim.SchedulerConfig()); after != before {
		t.Errorf("a comparison has put to use %s", after)
	}
}

func TestAComparisonIsStopped(t *testing.T) {
	p := open(t, "/")
	p.createPod("waits", "")
	p.click("#cog")
	p.click("#compare")
	p.waitFor("it is under way", "document.querySelector('#editor .job button') !== null")
	p.click("#editor .job button")
	p.waitWithin(clusters, "it has stopped", "document.querySelector('#problems').innerText.includes('stopped')")
	p.click("#editor [data-close]")
	p.closed("#editor")
}

// A pod that runs though no scheduler would have put it there stands for a copy that
// lacks what its pods need.
func TestAPodThatRunsAndHasNoNodeUnderAIsLoud(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	p.createPod("plain", "")
	p.form("pod")
	p.paste("#text", "apiVersion: v1\nkind: Pod\nmetadata: {name: stranded}\nspec:\n  nodeName: kubecon-1\n  nodeSelector: {disk: ssd}\n  containers: [{name: web, image: web}]\n")
	p.submit()
	p.waitFor("both are on the node", "document.getElementById('on-default-plain') && document.getElementById('on-default-stranded')")
	p.click("#cog")
	p.click("#compare")
	p.waitWithin(clusters, "the comparison is shown", "location.pathname.startsWith('/compare/')")
	p.says("h1", "1 pod that runs has no node under A")
	p.says(".tallies", "1 runs, and has no node under A")
	p.says("#compared-rows tbody tr:first-child", "stranded")
	p.says("#compared-rows tbody tr:first-child .outcome", "no node under A")
	p.says("#compared-rows tbody tr:first-child", "NodeAffinity")
	p.click("#compared-default-stranded")
	p.waitFor("both attempts are beside each other", "document.querySelectorAll('#panel .side').length === 2")
}

func TestThatNothingWaitsIsSaidWithWhatToDo(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	p.createPod("plain", "")
	p.waitFor("it is on the node", "document.getElementById('on-default-plain')")
	p.click("#cog")
	p.do(chromedp.SetValue("#what-if", "pending", chromedp.ByQuery))
	p.click("#compare")
	p.says("#problems", "nothing to compare: every pod of the cluster has a node; choose “every pod anew”, which schedules those, too")
}

func TestAConfigurationThatCannotBeComparedIsShownAtItsLine(t *testing.T) {
	p := open(t, "/")
	p.click("#cog")
	p.paste("#text", head+strings.ReplaceAll(plugins, "WasmRegexScheduling", "NoSuchPlugin"))
	p.click("#compare")
	p.waitWithin(clusters, "it is refused", "document.querySelector('#problems').innerText.includes('NoSuchPlugin')")
	p.waitFor("the line is marked", "document.querySelector('.gutter .bad') !== null")
	p.discard()
}

// Names as clouds give them.
const (
	cloudNode = "ip-10-0-28-%d.eu-west-1b.compute.internal"
	cloudPod  = "checkout-frontend-7d9f8b6c5d-%s"
)

// inTheCloud makes nodes and pods, all of which want the first of the nodes.
func (p *tab) inTheCloud() {
	p.Helper()
	core := sim.Client().CoreV1()
	room := v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("3")}
	for i := range 3 {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf(cloudNode, i)}, Status: v1.NodeStatus{Capacity: room, Allocatable: room}}
		if _, err := core.Nodes().Create(p.Context(), node, metav1.CreateOptions{}); err != nil {
			p.Fatal(err)
		}
	}
	for _, suffix := range []string{"2x7kq", "bn4hz", "m9w5d", "r6tcf", "x2x7k"} {
		pod := &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf(cloudPod, suffix), Annotations: map[string]string{regex.Annotation: `^ip-10-0-28-0\.`}},
			Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "web", Image: "web"}}},
		}
		if _, err := core.Pods("default").Create(p.Context(), pod, metav1.CreateOptions{}); err != nil {
			p.Fatal(err)
		}
	}
}

// saved opens the report of the comparison that is shown, as a file.
func (p *tab) saved() {
	p.Helper()
	var report string
	p.do(chromedp.Evaluate("fetch(document.querySelector('.compared [download]').href).then((r) => r.text())", &report, awaited))
	file := filepath.Join(p.TempDir(), "compared.html")
	if err := os.WriteFile(file, []byte(report), 0o644); err != nil {
		p.Fatal(err)
	}
	p.do(chromedp.Navigate("file://" + file))
}

func TestAComparisonOfACloudCanBeReadOnEveryScreen(t *testing.T) {
	p := open(t, "/")
	p.scheme("light")
	p.configure(head)
	p.inTheCloud()
	p.says("#summary", "5 running")
	p.click("#cog")
	p.paste("#text", head+plugins+guestV2)
	p.click("#compare")
	p.waitWithin(clusters, "the comparison is shown", "location.pathname.startsWith('/compare/')")
	p.says("#compared-rows", "only under A")
	p.says("#compared-rows", "elsewhere")
	p.onEveryScreen("the page", "#compared-rows tbody th, #compared-rows td")
	p.click("[id^=compared-default-]")
	p.waitFor("both attempts are beside each other", "document.querySelectorAll('#panel .side').length === 2")
	p.onEveryScreen("a pod", "#panel .verdict p, #panel .side h2, #panel .causes li, #panel .scores tbody th")
	p.saved()
	p.onEveryScreen("the report", "#pods tr[tabindex] > *")
}

// onEveryScreen reads something on a notebook's screen, and on a phone's.
func (p *tab) onEveryScreen(what, see string) {
	p.Helper()
	p.within(what+" at 1280", func() { p.readable(see) })
	p.within(what+" at 390", func() { p.onAPhone(func() { p.readable(see) }) })
}

func TestComparisonsAreListedAndWaitForEachOther(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	p.createPod("plain", "")
	p.waitFor("it is on the node", "document.getElementById('on-default-plain')")
	orders := func(says string) (listed string) {
		p.Helper()
		p.do(chromedp.Navigate(server.URL() + "/scheduler"))
		p.click("#compare")
		p.says("main .job", says)
		p.do(chromedp.Evaluate("'#comparison-' + parseInt(document.querySelector('main .job').dataset.aside.split('/')[2])", &listed))
		return listed
	}
	const waits = "waits until the comparison before it has ended"
	first, second := orders("A: "), orders(waits)
	p.do(chromedp.Navigate(server.URL()))
	p.says("#jobs", waits) // a reload leaves it at the edge
	p.click("nav a[href='/compare']")
	p.says(first, "A: ")
	p.says(first, "B: ")
	p.says(second, waits)
	p.waitFor("it stands there once", "!document.querySelector('#jobs').childElementCount")
	p.click(second + " button")
	p.says(second, "stopped")
	p.waitWithin(clusters, "the first has ended", "document.querySelector("+quote(first+" .name")+")?.innerText === 'No difference'")
	p.do(chromedp.Navigate(server.URL()))
	p.click("nav a[href='/compare']")
	p.click(first + " .name")
	p.says("main h1", "No difference")
	p.do(chromedp.Reload())
	p.says("main h1", "No difference")
}
