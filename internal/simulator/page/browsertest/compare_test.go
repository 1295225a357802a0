package browsertest

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
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
		p.fits("main h1, main .button, #compared-rows .told, #compared-rows .node, #compared-rows .clip")
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

func TestAConfigurationThatCannotBeComparedIsShownAtItsLine(t *testing.T) {
	p := open(t, "/")
	p.click("#cog")
	p.paste("#text", head+strings.ReplaceAll(plugins, "WasmRegexScheduling", "NoSuchPlugin"))
	p.click("#compare")
	p.waitWithin(clusters, "it is refused", "document.querySelector('#problems').innerText.includes('NoSuchPlugin')")
	p.waitFor("the line is marked", "document.querySelector('.gutter .bad') !== null")
	p.discard()
}
