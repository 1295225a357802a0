package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestSingleNodeIsExplainedLikeManyOthers(t *testing.T) {
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	p.createNode("only")
	p.createPod("unmatched", "kubecon-.*")
	p.panel("#pending-default-unmatched")
	p.says("#verdict", `1 node(s) didn't match the pod's node name regex "kubecon-.*"`)
	p.says("#verdict", "matches 0 of 1 node now")
	p.says(".prefilter .is-Failed", "RegexScheduling")
	p.click("#panel [data-close]")
	p.closed("#panel")
	p.form("pod")
	p.paste("#text", "apiVersion: v1\nkind: Pod\nmetadata: {name: fast}\nspec:\n  nodeSelector: {disk: ssd}\n  containers: [{name: web, image: web}]\n")
	p.submit()
	p.panel("#pending-default-fast")
	p.says(".matrix tbody tr", "only")
	p.waitFor("the failing cell comes first", `document.querySelector(".matrix tbody .cell").matches(".is-Failed")`)
}

func TestRegexThatNoPluginReadsHasNoEffect(t *testing.T) {
	p := open(t, "/")
	p.configure(head)
	p.createPod("waits", "kubecon-.*") // there are no nodes
	p.panel("#pending-default-waits")
	p.says("#verdict", "kubecon-.* has no effect: no plugin of the scheduler “default-scheduler” reads a regex. Any node may run the pod.")
	p.do(chromedp.Navigate(server.URL()))
	p.configure(head + plugins + guestV2 + `        guestConfig: '{"annotation": "example.com/nodes"}'` + "\n")
	p.panel("#pending-default-waits")
	p.says("#verdict", "kubecon-.* has no effect: the scheduler reads example.com/nodes, not scheduler.wasmkwokwizardry.io/regex. Any node may run the pod.")
}

func TestPodsPendingForTheSameCauseShareALine(t *testing.T) {
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	p.createNode("kubecon-1")
	p.many("pod", "lost-{n}", "30", "cncf-.*")
	p.createPod("broken", `kubecon-.*\`)
	p.says("#pending-title", "31")
	p.waitFor("two reasons are two lines", "document.querySelectorAll('.pending > li').length === 2")
	p.says(".pending > li:last-child", "30 pods")
	p.says(".pending > li:last-child", `1 node(s) didn't match the pod's node name regex "cncf-.*"`)
	p.click(".pending > li:last-child .more")
	p.says("main h1", "30 of 31")
	p.waitFor("the other is not among them", "!document.getElementById('pod-default-broken')")
}

func TestEditSendsOnlyWhatWasChanged(t *testing.T) {
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	p.createNode("kubecon-1")
	p.createPod("wanders", "cncf-.*")
	p.panel("#pending-default-wanders")
	p.click("#edit")
	p.waitFor("the form is there", "document.querySelector('#editor').open && document.querySelector('#regex')?.value === 'cncf-.*'")
	p.says("#preview", "Matches none of 1 node now")
	p.typeIn("#regex", "kubecon-1{,2}")
	p.says("#preview", "to repeat from zero times on, as in Python, write {0,2}.")
	p.typeIn("#regex", "kubecon-.*")
	p.says("#preview", "Matches 1 of 1 node")
	p.submit()
	p.says("#verdict", "Running on kubecon-1") // the panel is live
	p.waitFor("both attempts are kept", "document.querySelectorAll('.attempt').length >= 2")
	p.says(".attempt:last-of-type .attempt-body", `regex "cncf-.*"`) // still open, as it was
	p.click("#panel .quiet-danger")
	p.click("#confirm-yes")
	p.closed("#panel")
	p.says("main", "There are no pods.")
}

func TestProblemOfTheAPIServerIsShownAtItsLine(t *testing.T) {
	p := open(t, "/")
	p.form("pod")
	p.paste("#text", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: Not_A_Name\n")
	p.click("#editor .submit")
	p.says("#problems", "RFC 1123")
	p.marked("4")
	p.paste("#text", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: fine\n---\nkind: Pod\n")
	p.click("#editor .submit")
	p.says("#problems", "required")
	p.marked("6")
}

func TestClosingAFormSendsNothing(t *testing.T) {
	p := open(t, "/")
	p.createNode("stays")
	for _, close := range []string{"#editor .sheet-head [data-close]", "#editor .form-foot [data-close]"} {
		p.click("#more")
		p.click("#reset")
		p.says("#editor", "Reset everything?")
		p.click(close)
		p.closed("#editor")
		p.click("#new")
		p.click("#new-node")
		p.click(close)
		p.closed("#editor")
	}
	p.do(chromedp.Reload())
	p.says("#nodes-title", "1")
}

func TestKeyboardIsEnough(t *testing.T) {
	p := open(t, "/")
	p.do(chromedp.Focus("#new", chromedp.ByQuery))
	p.press(kb.Enter, false)
	p.focused("#new-node")
	p.press(kb.Enter, false)
	p.focused("#editor #text")
	p.press(kb.Enter, true)
	p.closed("#editor")
	p.says("#nodes-title", "1")
	p.press("/", false)
	p.focused("#filter")
	p.typeIn("#filter", "zzz")
	p.says("main", "matches “zzz”")
}

// TestChangeDuringARequestCausesAnother: its event may be the last for long, and the response may
// lack the change.
func TestChangeDuringARequestCausesAnother(t *testing.T) {
	p := open(t, "/")
	p.waitFor("no request", `document.querySelector(".htmx-request") === null`)
	p.do(chromedp.Evaluate(`{
		window.asked = 0;
		const { open, send } = XMLHttpRequest.prototype;
		XMLHttpRequest.prototype.open = function (method, url, ...more) { this.to = url; open.call(this, method, url, ...more); };
		XMLHttpRequest.prototype.send = function (...body) {
			if (this.to === "/summary" && ++window.asked === 1) {
				const onload = this.onload;
				this.onload = () => { window.answer = () => onload.call(this); };
			}
			send.apply(this, body);
		};
		htmx.trigger("#summary", "sse:cluster");
	}`, nil))
	p.waitFor("the first answer", `window.answer !== undefined`)
	p.do(chromedp.Evaluate(`htmx.trigger("#summary", "sse:cluster"); if (window.asked !== 1) throw "two requests at once"; window.answer()`, nil))
	p.waitFor("a second request", `window.asked > 1`)
}
