package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestPodsPendingForTheSameCauseShareALine(t *testing.T) {
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	p.createNode("kubecon-1")
	p.many("pod", "lost-{n}", "30", "cncf-.*")
	p.createPod("broken", `kubecon-.*\`)
	p.says("#pending-title", "31")
	p.waitFor("two reasons are two lines", "document.querySelectorAll('.pending > li').length === 2")
	p.says(".pending > li:last-child", "30 pods", `1 node(s) didn't match the pod's node name regex "cncf-.*"`)
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
	p.says("#preview", "to repeat from zero times on, as in Python, write {0,2}")
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
