package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestDialogsFocusWhatComesFirst(t *testing.T) {
	p := open(t, "/")
	p.createNode("kubecon-1")
	for _, d := range []struct{ button, link, focus string }{
		{"#new", "#new-pod", "#text"},
		{"", "#cog", "#text"},
		{"", "#fit", "#text"},
		{"", "#compare-with", "#text"},
		{"#new", "#import", "#file"},
		{"#more", "#reset", "#editor .form-foot [data-close]"},
		{"", "#node-kubecon-1", "#panel h1"},
	} {
		dialog(d.button, d.link)(p)
		p.focused(d.focus)
		if d.link == "#node-kubecon-1" {
			p.click("#panel .quiet-danger")
			p.focused("#confirm-no")
			p.press(kb.Escape, false)
			p.closed("#confirm")
		}
		p.press(kb.Escape, false)
		p.waitFor("it is closed", "!document.querySelector('dialog[open]')")
	}
	p.focused("#node-kubecon-1")
}

func TestMenusHaveTheKeysOfMenus(t *testing.T) {
	p := open(t, "/")
	p.do(chromedp.Focus("#new", chromedp.ByQuery))
	for _, step := range []struct{ key, focus string }{
		{kb.ArrowDown, "#new-node"},
		{kb.ArrowDown, "#new-pod"},
		{kb.ArrowUp, "#new-node"},
		{kb.ArrowUp, "#import"},
		{kb.ArrowDown, "#new-node"},
		{kb.End, "#import"},
		{kb.Home, "#new-node"},
		{"p", "#new-pod"},
		{kb.Escape, "#new"},
		{kb.ArrowUp, "#import"},
		{kb.Escape, "#new"},
		{kb.Enter, "#new-node"},
	} {
		p.press(step.key, false)
		p.focused(step.focus)
	}
	p.press(kb.Escape, false)
	p.waitFor("it is closed", "!document.querySelector('[popover=auto]:popover-open, .menu:popover-open')")
}

func TestEscapeClosesAViewOpenedByItsAddress(t *testing.T) {
	p := open(t, "/")
	p.createPod("web", "")
	for _, path := range []string{"/fit", "/scheduler", "/removal", "/pods/default/web"} {
		p.do(chromedp.Navigate(server.URL() + path))
		p.waitFor("it is there", "document.querySelector('main [data-close]')")
		p.press(kb.Escape, false)
		p.at("/")
	}
	p.do(chromedp.Navigate(server.URL() + "/new/pod"))
	p.paste("#text", "# mine")
	p.press(kb.Escape, false)
	p.says("#question", "Discard your changes?")
	p.press(kb.Escape, false)
	p.closed("#confirm")
	p.at("/new/pod")
	p.do(chromedp.Evaluate("quitting = true", nil)) // the tab may close
}
