package browsertest

import (
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// ceiling is the limit of time for a click on a busy machine. Tens of milliseconds are usual.
const ceiling = 5 * time.Second

func TestPageOfAThousandNodesAndFiveThousandPods(t *testing.T) {
	if os.Getenv("NIGHTLY") == "" {
		t.Skip("set NIGHTLY=1 to fill a page with 5,000 pods: make test-nightly")
	}
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	began := time.Now()
	p.many("node", "crowd-{n}", "1000", "")
	t.Logf("1,000 nodes: %.1f s", time.Since(began).Seconds())
	began = time.Now()
	p.many("pod", "member-{n}", "4950", "crowd-.*")
	p.many("pod", "lost-{n}", "50", "no-node-.*")
	p.long(8*time.Minute, func() {
		p.says("#summary", "4950 running")
		p.says(".pending", "1000 node(s) didn't match")
	})
	t.Logf("5,000 pods: %.1f s", time.Since(began).Seconds())

	p.timed("filter", func() { p.typeIn("#filter", "crowd-77") }, "document.querySelectorAll('.card').length === 11")
	p.timed("clear the filter", func() {
		p.do(chromedp.Evaluate("document.querySelector('#filter').value=''", nil))
		p.typeIn("#filter", " ")
	},
		"document.querySelector('#nodes-title').innerText.trim() === 'Nodes 1000'")
	p.timed("next page of nodes", func() { p.click("#page-next") }, "document.querySelector('.nodes .name').innerText !== 'crowd-1'")
	p.timed("sort by pods", func() {
		p.do(chromedp.Evaluate("const s = document.querySelector('#sort'); s.value = 'pods'; s.dispatchEvent(new Event('change', {bubbles: true}))", nil))
	}, "location.search.includes('sort=pods')")
	p.timed("why a pod is pending", func() { p.click(".pending .name") }, "document.querySelector('#panel').open && document.querySelector('#verdict')?.innerText.includes('1000 node(s)')")
	p.timed("the next rows of its table", func() { p.click("#panel .attempt-body .pager a") }, "document.querySelector('.attempt-body .pager .numbers')?.innerText.startsWith('26–50')")
	p.timed("close it", func() { p.click("#panel [data-close]") }, "!document.querySelector('#panel').open")
	p.timed("a node", func() { p.click(".nodes .name") }, "document.querySelector('#panel').open && document.querySelector('#panel .facts')")
	p.timed("all pods", func() { p.do(chromedp.Navigate(server.URL() + "/pods")) }, "document.querySelector('h1').innerText.includes('5000')")
}

// many creates many objects by the form of their kind.
func (p *tab) many(kind, pattern, count, regex string) {
	p.Helper()
	p.form(kind)
	if regex != "" {
		p.typeIn("#regex", regex)
	}
	p.typeIn("#count", count)
	p.typeIn("#pattern", pattern)
	p.click("#editor .submit")
	p.long(8*time.Minute, func() { p.closed("#editor") })
}

// long runs steps with another limit of time.
func (p *tab) long(limit time.Duration, steps func()) {
	before := patience
	patience = limit
	defer func() { patience = before }()
	steps()
}

// timed measures the time from a click until its effect is visible.
func (p *tab) timed(what string, click func(), seen string) {
	p.Helper()
	began := time.Now()
	click()
	p.waitFor(what, seen)
	took := time.Since(began)
	p.Logf("%s: %d ms", what, took.Milliseconds())
	if took > ceiling {
		p.Errorf("%s took %v, more than %v", what, took, ceiling)
	}
}
