package browsertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// trial is the limit of time for a comparison, or another what-if.
const trial = 3 * time.Minute

func TestEditedConfigurationIsComparedWithTheCurrentOne(t *testing.T) {
	p := open(t, "/")
	p.configure(head)
	p.createNode("kubecon-1")
	p.createPod("plain", "")
	p.createPod("selective", "no-node")
	p.waitFor("both are on the node", "document.getElementById('on-default-plain') && document.getElementById('on-default-selective')")
	before := string(sim.SchedulerConfig())

	p.click("#cog")
	p.paste("#text", head+strings.ReplaceAll(plugins, "WasmRegexScheduling", "NoSuchPlugin"))
	p.click("#compare")
	p.waitWithin(trial, "it is refused", "document.querySelector('#problems').innerText.includes('NoSuchPlugin')")
	p.marked("8")
	p.paste("#text", head+plugins+guestV2)
	p.result("#compare", "1 pod would no longer have a node")
	p.click("#each > summary")
	p.waitFor("the pod that is the same is not listed", "!document.querySelector('#pods').innerText.includes('plain')")
	p.says("#pods", "kubecon-1 is rejected")
	p.click("#pods tr.pod")
	p.says("#pods .both dl:first-child", "Scheduled on kubecon-1")
	p.says("#pods .both dl:last-child", "Unschedulable")
	p.onAPhone(func() { p.fits("h1, #pods .outcome, #pods td") })

	p.do(chromedp.SendKeys("#find", "no such", chromedp.ByQuery))
	p.says("#found", "0 of 1 pods")
	p.click("header a")
	p.at("/results")
	p.click(".comparisons li:first-child .button[data-dialog]")
	p.waitFor("what was typed is there again", "(document.querySelector('#text')?.value ?? '').includes('regex_v2')")
	testkit.Equal(t, string(sim.SchedulerConfig()), before, "the configuration in use")
}

// hangs is a configuration with an extender that does not respond before goOn.
func hangs(t *testing.T) (config string, goOn func()) {
	t.Helper()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args extenderv1.ExtenderArgs
		err := json.NewDecoder(r.Body).Decode(&args)
		<-release
		_ = json.NewEncoder(w).Encode(extenderv1.ExtenderFilterResult{NodeNames: args.NodeNames, Error: errorText(err)})
	}))
	goOn = sync.OnceFunc(func() { close(release) })
	t.Cleanup(func() { goOn(); server.Close() })
	return head + "extenders:\n- {urlPrefix: '" + server.URL + "', filterVerb: filter, nodeCacheCapable: true, httpTimeout: 1h}\n", goOn
}

func errorText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// Names of a cloud.
const (
	cloudNode = "ip-10-0-28-%d.eu-west-1b.compute.internal"
	cloudPod  = "checkout-frontend-7d9f8b6c5d-%s"
)

// inTheCloud creates nodes, and pods that select the first node.
func (p *tab) inTheCloud() {
	p.Helper()
	for i := range 3 {
		p.post("nodes", fmt.Sprintf(`
metadata: {name: `+cloudNode+`, labels: {topology.kubernetes.io/zone: northamerica-northeast1-a, node.kubernetes.io/instance-type: x2iedn.metal-32xlarge}}
status:
  allocatable: &room {cpu: "4", memory: 8Gi, pods: "3", accelerators.hardware-vendor.example.com/partition-of-a-large-one: "16"}
  capacity: *room`, i))
	}
	for _, suffix := range []string{"2x7kq", "bn4hz", "m9w5d", "r6tcf", "x2x7k"} {
		p.post("namespaces/default/pods", fmt.Sprintf(`
metadata: {name: `+cloudPod+`, annotations: {scheduler.wasmkwokwizardry.io/regex: '^ip-10-0-28-0\.'}}
spec: {containers: [{name: web, image: web}]}`, suffix))
	}
}

// saved opens the saved report of the newest comparison.
func (p *tab) saved() {
	p.Helper()
	var report string
	p.do(chromedp.Navigate(server.URL()+"/results"), chromedp.Evaluate("fetch(document.querySelector('[download=\"compared.html\"]').href).then((r) => r.text())", &report, awaited))
	file := filepath.Join(p.TempDir(), "compared.html")
	testkit.Must(p, os.WriteFile(file, []byte(report), 0o644))
	p.do(chromedp.Navigate("file://" + file))
}

func TestComparisonOfACloudCanBeReadOnEveryScreen(t *testing.T) {
	p := open(t, "/")
	p.scheme("light")
	p.configure(head)
	p.inTheCloud()
	p.says("#summary", "5 running")
	p.click("#cog")
	p.paste("#text", head+plugins+guestV2)
	p.click("#compare")
	p.waitWithin(trial, "the comparison is shown", "location.pathname.startsWith('/results/')")
	p.says("#answer", "nodes used, empty")
	p.onAPhone(func() {
		p.waitFor("the heads are one row", "new Set([...document.querySelectorAll('#answer thead th')].map((head) => head.getBoundingClientRect().top)).size === 1")
	})
	p.onEveryScreen("the curves", "#answer th, .curves figcaption, .curves .legend li, .curves .plot span")
	p.scheme("dark")
	p.onEveryScreen("the curves in the dark", ".curves figcaption, .curves .legend li, .curves .plot span")
	p.scheme("light")
	p.waitFor("each curve has its line", "document.querySelectorAll('.curves figure').length === 4 && [...document.querySelectorAll('.curves .plot path')].every((line) => line.getBoundingClientRect().width > 200)")
	p.click("#each > summary")
	p.says("#pods", "only under A", "moved")
	p.onEveryScreen("the page", "#pods tr.pod > *")
	p.saved()
	p.click("#each > summary")
	p.onEveryScreen("the report", "#pods tr.pod > *")
	p.do(chromedp.Evaluate("document.querySelectorAll('#pods tr.pod').forEach((row) => row.click())", nil))
	p.onEveryScreen("both sides of each pod", "#pods .both dt, #pods .both dd > b, #pods .both dd > p")
}

// onEveryScreen checks that a text is readable at 1280 and at 390 px.
func (p *tab) onEveryScreen(what, see string) {
	p.Helper()
	p.within(what+" at 1280", func() { p.readable(see) })
	p.within(what+" at 390", func() { p.onAPhone(func() { p.readable(see) }) })
}

func TestComparisonsAreListedAndQueued(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	p.createPod("plain", "")
	p.waitFor("it is on the node", "document.getElementById('on-default-plain')")
	config, goOn := hangs(t)
	orders := func(says string) (listed string) {
		p.Helper()
		p.do(chromedp.Navigate(server.URL() + "/scheduler"))
		p.paste("#text", config)
		p.click("#compare")
		p.says("main .job", says)
		p.do(chromedp.Evaluate("'#result-' + parseInt(document.querySelector('main .job').dataset.aside.split('/')[2])", &listed))
		return listed
	}
	const waits = "queued: “Comparing Unmodified kube-scheduler with "
	first, second := orders("A: "), orders(waits)
	p.do(chromedp.Navigate(server.URL()))
	p.says("#jobs", waits) // a reload leaves it at the edge
	p.says("#jobs", "Comparing Unmodified kube-scheduler")
	p.onAPhone(func() {
		p.waitFor("the edge is small", "document.querySelectorAll('#jobs .job').length === 2 && document.querySelector('#jobs').getBoundingClientRect().height < innerHeight / 5")
	})
	p.click("nav a[href='/results']")
	p.says(first, "A: ")
	p.says(first, "B: ")
	p.says(second, waits)
	p.waitFor("it stands there once", "!document.querySelector('#jobs').childElementCount")
	p.click(second + " button")
	p.says(second, "stopped")
	goOn()
	p.waitWithin(trial, "the first has ended", "document.querySelector("+quote(first+" .name")+")?.innerText === 'Nothing would change'")
	p.do(chromedp.Navigate(server.URL()))
	p.click("nav a[href='/results']")
	p.onAPhone(func() {
		p.waitFor("the verdict has the whole line", "document.querySelector("+quote(first+" > div")+").getBoundingClientRect().width > .85 * document.querySelector("+quote(first)+").getBoundingClientRect().width")
	})
	p.click(first + " .name")
	p.says("h1", "Nothing would change")
	p.do(chromedp.Reload())
	p.says("h1", "Nothing would change")
}
