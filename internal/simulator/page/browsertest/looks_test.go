package browsertest

import (
	_ "embed"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

//go:embed testdata/looks.js
var looks string

// scene is a state of the page, and the steps from its path to there.
type scene struct {
	path string
	do   func(*tab)
	see  string // the selectors of what must be on the screen
}

func menu(id string) func(*tab) {
	return func(p *tab) {
		p.click(id)
		p.waitFor("the menu is open", "document.querySelector('[popover]:popover-open')")
	}
}

func dialog(button, link string) func(*tab) {
	return func(p *tab) {
		if button != "" {
			p.click(button)
		}
		p.click(link)
		p.waitFor("it is open", "document.querySelector('dialog[open] h1')")
	}
}

var scenes = []scene{
	{"/", nil, "#fit, #compare-with, #new, #more, #cog, .pending .why b, .pending .why span"},
	{"/", menu("#new"), "#new-menu"},
	{"/", menu("#more"), "#more-menu"},
	{"/pods", nil, "#new, .list .outcome, .list .clip"},
	{"/objects", nil, "#new, .shelf-head .button"},
	{"/pods/default/unmatched", nil, "#verdict h2, #verdict p"},
	{"/nodes/kubecon-1", nil, "main h1, main .list .outcome, .operations button, .operations a"},
	{"/nodes/kubecon-1/taint", nil, "main h1, #taint, main .submit"},
	{"/", dialog("", "#pending-default-unmatched"), "#panel h1, #panel .close, #verdict p"},
	{"/", dialog("", "#node-kubecon-1"), "#panel h1, #panel .close, #panel .list .outcome, .operations button, .operations a"},
	{"/", dialog("#new", "#new-pod"), "#editor h1, #editor .submit, #text"},
	{"/", dialog("", "#fit"), "#editor h1, #editor .submit, #text, #what"},
	{"/", dialog("", "#compare-with"), "#editor h1, #editor .submit, #text, #what-if"},
	{"/", dialog("", "#cog"), "#editor h1, #editor .submit, #text"},
	{"/", dialog("#new", "#import"), "#editor h1, #editor .submit"},
	{"/", dialog("#more", "#reset"), "#editor h1, #reset-yes"},
	{"/new/pod", nil, "main h1, main .submit"},
	{"/scheduler", nil, "main h1"},
	{"/", dialog("#more", "#about"), "#editor h1, #editor .command button, #editor .facts code"},
	{"/no-such-page", nil, "main h1"},
}

// furnish creates nodes, a running and a pending pod.
func (p *tab) furnish() {
	p.Helper()
	p.configure(head + plugins + guestV2)
	p.createNode("kubecon-1")
	p.createNode("a-node-with-a-long-name.in-a-domain-of-its-own.example.com")
	p.createPod("matches", "kubecon-.*")
	p.createPod("unmatched", "a-long-pattern-that-matches-no-node-at-all-(one|two|three)-.*")
	p.waitFor("the pod is on the node", "document.getElementById('on-default-matches')")
}

func (p *tab) enter(s scene) {
	p.Helper()
	p.quiet = s.path == "/no-such-page" // 404 is an error to the browser
	p.do(chromedp.Navigate(server.URL() + s.path))
	if s.do != nil {
		s.do(p)
	}
}

// scheme sets the colour scheme, light or dark, and reduces motion.
func (p *tab) scheme(name string) {
	p.Helper()
	p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}))
}

// fits fails if the page or a selected element is wider than the window.
func (p *tab) fits(see string) {
	p.Helper()
	var wrong []string
	p.do(chromedp.Evaluate(looks+"\noutside("+quote(see)+")", &wrong))
	for _, w := range wrong {
		p.Error(w)
	}
}

// readable fails if a selected text is not in the window, cut, or printed over another.
func (p *tab) readable(see string) {
	p.Helper()
	p.fits(see)
	var wrong []string
	p.do(chromedp.Evaluate(looks+"\nunreadable("+quote(see)+")", &wrong))
	for _, w := range wrong {
		p.Error(w)
	}
}

// onAPhone runs steps at 390 px.
func (p *tab) onAPhone(do func()) {
	p.Helper()
	p.do(chromedp.EmulateViewport(390, 844))
	do()
	p.do(chromedp.EmulateViewport(1280, 800))
}

// Each scene is loaded once, and looked at in both colour schemes and on a phone.
func TestScenesFitOnAPhoneAndHaveContrast(t *testing.T) {
	p := open(t, "/")
	p.furnish()
	for i, s := range scenes {
		p.within(fmt.Sprintf("%d %s", i, s.path), func() {
			p.scheme("light")
			p.enter(s)
			p.contrast("light")
			p.scheme("dark")
			p.contrast("dark")
			p.targets()
			p.onAPhone(func() {
				p.fits(s.see)
				p.targets()
			})
		})
	}
	p.do(chromedp.Navigate(server.URL() + "/pods/default/unmatched"))
	p.onAPhone(func() {
		p.waitFor("at least three plugins of the verdict are seen", `[...document.querySelectorAll(".matrix .head")].filter((head) =>
			head.getBoundingClientRect().right <= head.closest(".scroll").getBoundingClientRect().right).length >= 3`)
	})
}

// contrast fails if a text is faint in the colour scheme that is set.
func (p *tab) contrast(scheme string) {
	p.Helper()
	var wrong []string
	p.do(chromedp.Evaluate(looks+"\nfaint()", &wrong))
	for _, w := range wrong {
		p.Errorf("%s: %s", scheme, w)
	}
}

// targets fails if something to click is smaller than 24 px, with too little room around it.
func (p *tab) targets() {
	p.Helper()
	var wrong []string
	p.do(chromedp.Evaluate(looks+"\nsmall()", &wrong))
	for _, w := range wrong {
		p.Error(w)
	}
}

// The head of a copy of a cluster has the longest texts.
func TestHeadOfALargeCopyFits(t *testing.T) {
	p := open(t, "/")
	head := "nav a, #fit, #compare-with, #new, #summary span:not(#source), #summary .chip"
	p.do(chromedp.Evaluate(`
		document.querySelector("#summary").replaceWith(document.querySelector("#summary").cloneNode(true)); // no redraw replaces it
		document.querySelector(".top nav [href='/results']") || document.querySelector(".top nav").insertAdjacentHTML("beforeend", "<a href=/results>Results</a>");
		document.querySelectorAll("#summary b").forEach((count) => { count.textContent = "120"; });
		document.querySelector("#summary .chip").textContent = "Wasm guest v2"`, nil))
	for _, width := range []int64{1920, 1366, 1280, 1220} {
		p.within(fmt.Sprint("usual, ", width), func() {
			p.do(chromedp.EmulateViewport(width, 800))
			p.readable(head)
			p.waitFor("it is one line", "document.querySelector('.top').getBoundingClientRect().height < 64")
		})
	}
	p.do(chromedp.Evaluate(`
		document.querySelector("#summary").insertAdjacentHTML("afterbegin", "<span id=source>a copy of <b>gke_production_europe-west1_main</b></span>");
		document.querySelectorAll("#summary span:not(#source) b").forEach((count) => { count.textContent = "100000"; });
		document.querySelector("#summary .chip").textContent = "HTTP extender, names (nodeCacheCapable), and more"`, nil))
	for _, width := range []int64{1920, 1366, 1280, 1100, 800, 390} {
		p.within(fmt.Sprint(width), func() {
			p.do(chromedp.EmulateViewport(width, 800))
			p.fits("#cog, #more")
			p.readable(head + ", #source")
			p.waitFor("it leaves room", "document.querySelector('.top').getBoundingClientRect().height < 160")
		})
	}
}

// A list gives names and states the room that reasons do not need.
func TestListDoesNotBreakShortNames(t *testing.T) {
	p := open(t, "/")
	p.furnish()
	p.do(chromedp.Navigate(server.URL() + "/pods"))
	p.says(".list", "didn't match the pod's node name regex")
	for _, width := range []int64{1920, 1366, 1000, 760} {
		p.do(chromedp.EmulateViewport(width, 800))
		p.waitFor(fmt.Sprint("each is one line at ", width), `(all => all.length >= 5 && all.every((one) => one.getClientRects().length === 1 && one.offsetHeight < 30))(
			[...document.querySelectorAll(".list tbody th a, .list td a, .list .outcome")])`)
	}
}

func TestLongNameCanBeReadOnEveryScreen(t *testing.T) {
	p := open(t, "/")
	p.scheme("light")
	p.configure(head + plugins + guestV2)
	p.inTheCloud()
	p.says(".pending", "Too many pods")
	p.onEveryScreen("the cluster", ".pending .name, .pending .why, .card .name, .card .place, .card dt, .card dd span, .card .pods a")
	p.do(chromedp.Navigate(server.URL() + "/pods"))
	p.onEveryScreen("the list of pods", "tbody th, tbody .outcome, tbody .clip")
	p.panel("tbody a") // one that waits
	p.waitFor("the failing cell comes first", `document.querySelector(".matrix tbody .cell").matches(".is-Failed")`)
	p.onEveryScreen("a pending pod", "#verdict p, .matrix tbody th, .matrix .because")
	p.do(chromedp.Navigate(server.URL() + "/nodes/" + fmt.Sprintf(cloudNode, 0)))
	p.onEveryScreen("a node", "main h1, .operations button, .facts dt, .facts .wide span, tbody th, tbody .outcome")
}
