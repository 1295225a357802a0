package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func (p *tab) goBack()    { p.Helper(); p.do(chromedp.Evaluate("history.back()", nil)) }
func (p *tab) goForward() { p.Helper(); p.do(chromedp.Evaluate("history.forward()", nil)) }

func TestPanelIsInTheAddress(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	p.createPod("web", "")
	p.do(chromedp.Navigate(server.URL() + "/pods"))
	p.typeIn("#filter", "web")
	p.at("/pods?filter=web&namespace=&sort=")
	p.panel("#pod-default-web")
	p.at("/pods/default/web")
	p.focused("#panel h1")
	p.goBack()
	p.closed("#panel")
	p.at("/pods?filter=web&namespace=&sort=")
	p.waitFor("the filter is as it was", "document.querySelector('#filter').value === 'web'")
	p.goForward()
	p.waitFor("the panel is open again", "document.querySelector('#panel').open && document.querySelector('#panel #verdict')")
	p.press(kb.Escape, false)
	p.closed("#panel")
	p.at("/pods?filter=web&namespace=&sort=")

	p.panel("#pod-default-web")
	p.do(chromedp.Reload())
	p.says("main #verdict", "Running on kubecon-1")
	p.goBack()
	p.waitFor("the list is there again", "document.querySelector('main .list') && location.pathname === '/pods'")
}

func TestPanelsAndFormsAreStepsOfTheHistory(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	p.createPod("web", "")
	p.click("#node-kubecon-1")
	p.says("#panel", "Maximum of pods")
	p.at("/nodes/kubecon-1")
	p.click("#pod-default-web")
	p.says("#panel", "Scheduling attempts")
	p.opens("#edit", "#text")
	p.at("/edit/pod?name=web&namespace=default")
	p.goBack()
	p.closed("#editor")
	p.says("#panel", "Scheduling attempts")
	p.goBack()
	p.says("#panel", "Maximum of pods")
	p.at("/nodes/kubecon-1")
	p.goForward()
	p.says("#panel", "Scheduling attempts")
	p.press(kb.Escape, false) // closes it at once, however it was reached
	p.closed("#panel")
	p.at("/")
}
