package browsertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/version"
)

// startLongJob starts a job that runs until it is stopped or the test ends.
func (p *tab) startLongJob() {
	p.Helper()
	p.form("node")
	p.typeIn("#count", "5000")
	p.typeIn("#pattern", "many-{n}")
	p.click("#editor .submit")
	p.waitFor("progress is shown", "document.querySelector('#problems.job progress')?.value > 0")
	var address string
	p.do(chromedp.Evaluate("document.querySelector('.job').dataset.aside", &address))
	p.Cleanup(func() {
		response, err := http.Post(server.URL()+strings.TrimSuffix(address, "?aside")+"/cancel", "", nil)
		if err != nil {
			p.Error(err)
			return
		}
		_ = response.Body.Close()
	})
}

func TestJobOfAFormIsNotSubmittedTwiceAndGoesOnAtTheEdge(t *testing.T) {
	p := open(t, "/")
	p.startLongJob()
	p.waitFor("the button is off", "document.querySelector('#editor .submit').disabled")
	p.do(chromedp.Focus("#text", chromedp.ByQuery))
	p.press(kb.Enter, true)
	before := p.value("#problems.job progress")
	p.waitFor("the first one's progress goes on", "document.querySelector('#problems.job progress')?.value > "+before)
	said := p.text("#problems")
	if strings.Contains(said, "exists") {
		t.Errorf("the form says %q", said)
	}
	p.press(kb.Escape, false)
	p.closed("#editor")
	p.do(chromedp.Reload())
	p.says("#jobs", "Creating 5000 × Node")
	p.waitFor("it goes on", "document.querySelector('#jobs progress')?.value > 0")
	p.click("#jobs .job button")
	p.says("#jobs", "stopped: ")
	p.click("#jobs [data-dismiss]")
	p.waitFor("it is gone", "!document.querySelector('#jobs').childElementCount")
}

func TestEditsAreNotDiscardedWithoutAQuestion(t *testing.T) {
	p := open(t, "/")
	const typed = "# mine\n"
	for _, way := range []struct {
		name string
		do   func()
	}{
		{"Escape", func() { p.press(kb.Escape, false) }},
		{"the cross", func() { p.click("#editor .sheet-head [data-close]") }},
		{"Cancel", func() { p.click("#editor .form-foot [data-close]") }},
		{"Back", func() { p.do(chromedp.Evaluate("history.back()", nil)) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			p.form("node")
			p.paste("#text", typed)
			way.do()
			p.says("#question", "Discard your changes?")
			p.focused("#confirm-no")
			p.press(kb.Escape, false)
			p.closed("#confirm")
			p.waitFor("the form is as it was", "document.querySelector('#editor').open && document.querySelector('#text').value === "+quote(typed))
			p.at("/new/node")
			way.do()
			p.click("#confirm-yes")
			p.closed("#editor")
			p.at("/")
		})
	}
	p.form("node")
	p.press(kb.Escape, false) // nothing was typed
	p.closed("#editor")
}

func TestConfigurationOfEachVariantIsOneClickAwayAndCanBeUndone(t *testing.T) {
	p := open(t, "/")
	p.click("#cog")
	for _, c := range simulator.Configurations {
		p.paste("#text", "# mine\n")
		p.click("#variant-" + c.Variant)
		p.waitFor("it is in the editor", "document.querySelector('#text').value === "+quote(string(c.YAML())))
		p.waitFor("its lines are numbered", "document.querySelector('.gutter').childElementCount > 5")
		p.press("z", true)
		p.waitFor("what was typed is back", `document.querySelector("#text").value === "# mine\n"`)
	}
	p.click("#variant-native")
	p.waitFor("it is in the editor", "document.querySelector('#text').value.includes('RegexScheduling')")
	p.press(kb.Escape, false) // not typed, so there is no question
	p.closed("#editor")
}

func TestFormOnAPageOfItsOwnLeadsOn(t *testing.T) {
	p := open(t, "/new/pod")
	p.paste("#text", strings.Replace(p.value("#text"), nameOf(p.value("#text")), "alone", 1))
	p.click(".submit")
	p.at("/")
	p.says("main", "alone")
	p.says("#notices", "Created pod alone")
	p.do(chromedp.Navigate(server.URL() + "/new/namespace"))
	p.click(".submit")
	p.at("/objects")
}

func TestFormReportsThatTheSimulatorDoesNotRespond(t *testing.T) {
	own := httptest.NewServer(handler)
	defer own.Close()
	p := openAt(t, own.URL)
	p.form("pod")
	text := p.value("#text")
	p.quiet = true // the browser complains, rightly
	own.CloseClientConnections()
	own.Listener.Close()
	p.click("#editor .submit")
	p.says("#problems", "The simulator does not respond")
	testkit.Equal(t, p.value("#text"), text, "the text")
	p.waitFor("it can be sent again", "!document.querySelector('#editor .submit').disabled")
	p.press(kb.Escape, false)
	p.closed("#editor")
	p.click("#cog")
	p.says("#notices", "The simulator does not respond")
}

func TestRegexThatNoPluginReadsHasNoEffect(t *testing.T) {
	p := open(t, "/")
	p.configure(head)
	p.form("pod")
	p.typeIn("#regex", "kubecon-.*")
	p.says("#preview", "no plugin of the scheduler “default-scheduler” reads a regex")
	p.paste("#text", strings.Replace(p.value("#text"), nameOf(p.value("#text")), "waits", 1))
	p.submit() // there are no nodes
	p.panel("#pending-default-waits")
	p.says("#verdict", "kubecon-.* has no effect: no plugin of the scheduler “default-scheduler” reads a regex. Any node may run the pod.")
	p.do(chromedp.Navigate(server.URL()))

	p.configure(head + plugins + guestV2 + "        guestConfig: '{\"annotation\": \"example.com/nodes\"}'\n")
	p.panel("#pending-default-waits")
	p.says("#verdict", "kubecon-.* has no effect: the scheduler reads example.com/nodes, not scheduler.wasmkwokwizardry.io/regex. Any node may run the pod.")
	p.do(chromedp.Navigate(server.URL()))
	p.form("pod")
	p.says("#regex-field label", "example.com/nodes")
	p.typeIn("#regex", "cncf-.*")
	p.waitFor("that annotation is in the YAML", `document.querySelector("#text").value.includes("example.com/nodes: 'cncf-.*'")`)
	p.paste("#text", strings.Replace(p.value("#text"), "example.com/nodes", "scheduler.wasmkwokwizardry.io/regex", 1))
	p.says("#preview", "the scheduler reads example.com/nodes, not scheduler.wasmkwokwizardry.io/regex")
	p.paste("#text", strings.Replace(p.value("#text"), "spec:\n", "spec:\n  schedulerName: another\n", 1))
	p.says("#preview", "no plugin of the scheduler “another”")
}

func TestPreviewSkipsExcludedNodes(t *testing.T) {
	const exclude = "    scheduler.wasmkwokwizardry.io/regex-exclude: "
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	p.createNode("kubecon-1")
	p.createNode("kubecon-2")
	p.form("pod")
	p.typeIn("#regex", "kubecon-.*")
	p.says("#preview", "Matches 2 of 2 nodes")
	p.paste("#text", strings.Replace(p.value("#text"), "  annotations:\n", "  annotations:\n"+exclude+"'-2$'\n", 1))
	p.says("#preview", "Matches 1 of 2 nodes after exclusion")
	p.typeIn("#regex", "")
	p.says("#preview", "Matches 1 of 2 nodes after exclusion")
	p.paste("#text", strings.Replace(p.value("#text"), "'-2$'", "'('", 1))
	p.says("#preview", "annotation scheduler.wasmkwokwizardry.io/regex-exclude: missing closing )")
	p.paste("#text", strings.Replace(p.value("#text"), "'('", "'.'", 1))
	p.says("#preview", "Matches none of 2 nodes now after exclusion: the pod would stay pending")
}

func TestPresetsAndWhereTheClusterIsAreOnThePage(t *testing.T) {
	p := open(t, "/")
	p.click("#more")
	p.click("#about")
	p.says("#editor .facts", "export KUBECONFIG="+sim.Kubeconfig(), version.String(), "https://wasmkwokwizardry.io/regex-scheduling")
	p.click("#editor [data-close]")
	p.closed("#editor")
	p.click("#cog")
	p.click("[id='variant-eks:MostAllocated']")
	p.waitFor("the preset is in the editor", "document.querySelector('#text').value.includes('MostAllocated')")
	p.submit()
	p.says("#summary .chip", "preset eks:MostAllocated")
}
