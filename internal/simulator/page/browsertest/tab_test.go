package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	cdpinput "github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

// patience is the limit of time for each step, on a busy machine. Most take milliseconds.
var patience = 2 * time.Minute

// tab is a tab of the browser, as a person uses it.
type tab struct {
	*testing.T
	ctx   context.Context
	quiet bool // not to fail on what the browser complains about
}

// open opens a path of the page in a new tab, with an empty cluster. Errors and warnings in
// the browser's console fail the test.
func open(t *testing.T, path string) *tab {
	t.Helper()
	return openAt(t, server.URL()+path)
}

func openAt(t *testing.T, url string) *tab {
	t.Helper()
	within, done := context.WithTimeout(t.Context(), 2*time.Minute)
	defer done()
	testkit.Must(t, sim.Reset(within))
	ctx, cancel := chromedp.NewContext(chromium)
	t.Cleanup(cancel)
	testkit.Must(t, chromedp.Run(ctx)) // the tab lives as long as the context of its first run
	p := &tab{T: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *cdplog.EventEntryAdded:
			if (e.Entry.Level == cdplog.LevelError || e.Entry.Level == cdplog.LevelWarning) && !p.quiet {
				t.Errorf("browser: %s %s", e.Entry.Text, e.Entry.URL)
			}
		case *cdpruntime.EventConsoleAPICalled:
			if (e.Type == cdpruntime.APITypeError || e.Type == cdpruntime.APITypeWarning) && !p.quiet && !isAbort(e.Args[0].Value) {
				t.Errorf("console: %s", e.Args[0].Value)
			}
		case *cdpruntime.EventExceptionThrown:
			t.Errorf("script: %s", e.ExceptionDetails.Error())
		case *cdppage.EventJavascriptDialogOpening:
			t.Errorf("the browser itself asks a question (%s), and waits for the answer", e.Type)
			go func() { _ = chromedp.Run(ctx, cdppage.HandleJavaScriptDialog(true)) }()
		}
	})
	p.do(cdppage.BringToFront(), chromedp.EmulateViewport(1280, 800), chromedp.Navigate(url))
	return p
}

// within runs steps as a subtest.
func (p *tab) within(name string, do func()) {
	p.Helper()
	outer := p.T
	outer.Run(name, func(t *testing.T) {
		p.T = t
		do()
	})
	p.T = outer
}

// isAbort reports whether htmx logs that it has aborted its own request, for example when somebody
// types a filter faster than the server responds. It logs two errors.
func isAbort(said []byte) bool {
	return bytes.HasPrefix(said, []byte(`"htmx:sendAbort,`)) || bytes.HasPrefix(said, []byte(`"htmx:afterRequest,`))
}

func (p *tab) do(actions ...chromedp.Action) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.Fatalf("%v\n%s", err, p.seen())
	}
}

// click clicks the element of a selector as soon as it is visible, and nothing is above it. Where
// it is comes from the page in one step, since an element may be redrawn at any time.
func (p *tab) click(selector string) {
	p.Helper()
	var at []float64
	p.poll(patience, selector+" can be clicked", `(at => {
		if (!at?.checkVisibility() || document.querySelector("[aria-busy=true]")) return false;
		const menu = at.matches("[role=menuitem]") && at.parentNode; // it focuses an item when it opens, and may scroll
		if (menu && !menu.contains(document.activeElement)) return false;
		at.scrollIntoViewIfNeeded();
		const { left, top, width, height } = at.getClientRects()[0];
		const [x, y] = [left + width / 2, top + height / 2];
		const still = at.clickAt === x + " " + y; // since it was last looked at: what is loaded above it may push it away
		at.clickAt = x + " " + y;
		return still && at.contains(document.elementFromPoint(x, y)) && [x, y];
	})(document.querySelector(`+quote(selector)+`))`, &at)
	p.do(chromedp.MouseClickXY(at[0], at[1]))
}

// paste replaces the text of a field, as from the clipboard.
func (p *tab) paste(selector, text string) {
	p.Helper()
	p.selectText(selector)
	p.do(cdpinput.InsertText(text))
}

// typeIn replaces the text of a field, key by key.
func (p *tab) typeIn(selector, text string) {
	p.Helper()
	p.selectText(selector)
	p.do(chromedp.KeyEvent(text))
}

// selectText focuses a field, and selects its text.
func (p *tab) selectText(selector string) {
	p.Helper()
	p.waitFor(selector+" can be edited", `(field => {
		if (!field?.checkVisibility()) return false;
		field.focus();
		field.select();
		return field.matches(":focus");
	})(document.querySelector(`+quote(selector)+`))`)
}

// text is the visible text of an element, or "".
func (p *tab) text(selector string) string {
	var text string
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Evaluate(fmt.Sprintf("document.querySelector(%s)?.innerText ?? ''", quote(selector)), &text))
	return text
}

// value is the text of a field.
func (p *tab) value(selector string) string {
	p.Helper()
	var text string
	p.do(chromedp.Evaluate(fmt.Sprintf("String(document.querySelector(%s).value)", quote(selector)), &text))
	return text
}

// says waits until an element has texts.
func (p *tab) says(selector string, texts ...string) {
	p.Helper()
	for _, text := range texts {
		p.waitFor(fmt.Sprintf("%s says %q", selector, text),
			fmt.Sprintf("(document.querySelector(%s)?.innerText ?? '').includes(%s)", quote(selector), quote(text)))
	}
}

// result clicks what starts a trial, and waits until the page of its result has such a heading.
func (p *tab) result(selector, heading string) {
	p.Helper()
	p.click(selector)
	p.waitWithin(trial, "the result is shown", "location.pathname.startsWith('/results/')")
	p.says("h1", heading)
}

// post creates an object of a manifest at a path of the API.
func (p *tab) post(path, manifest string) {
	p.Helper()
	objects.Post(p, sim.Client().CoreV1().RESTClient(), "/api/v1/"+path, manifest)
}

// closed waits until a dialog is closed.
func (p *tab) closed(selector string) {
	p.Helper()
	p.waitFor(selector+" is closed", fmt.Sprintf("!document.querySelector(%s).open", quote(selector)))
}

// waitFor waits until an expression holds in the page.
func (p *tab) waitFor(what, expression string) {
	p.Helper()
	p.waitWithin(patience, what, expression)
}

// leaves reports whether an expression failed because the browser opened another page.
func leaves(err error) bool {
	return strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context with specified id")
}

// waitWithin is waitFor with another limit of time.
func (p *tab) waitWithin(long time.Duration, what, expression string) {
	p.Helper()
	p.poll(long, what, expression, nil)
}

// poll waits until an expression has a value that is true for JavaScript, and stores that. What it
// looks at may not be there yet: the page before is still shown, for example. Nor may the scripts of
// a page that is shown already: until they are loaded, a click does nothing.
func (p *tab) poll(long time.Duration, what, expression string, value any) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, long)
	defer cancel()
	poll := chromedp.Poll("(() => { try { return document.readyState === 'complete' && ("+expression+"); } catch { return false; } })()", value, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(0))
	err := chromedp.Run(ctx, poll)
	for err != nil && ctx.Err() == nil && leaves(err) {
		err = chromedp.Run(ctx, poll) // another page has come: look at that
	}
	if err != nil {
		p.Fatalf("%s: not so: %v\n%s", what, err, p.seen())
	}
}

// seen is what somebody who looks at the page reads, for a failure.
func (p *tab) seen() string {
	return fmt.Sprintf("the dialog says: %.1000s\nthe page says: %.1000s", p.text("dialog[open]"), p.text("body"))
}

// quote writes a text for JavaScript.
func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// form opens the form for a new object, and waits for it.
func (p *tab) form(kind string) {
	p.Helper()
	p.click("#new")
	p.opens("#new-"+kind, "#text")
}

// opens clicks what opens a form, and waits for one of its fields.
func (p *tab) opens(selector, field string) {
	p.Helper()
	p.click(selector)
	p.waitFor("the form is there", "document.querySelector('#editor').open && document.querySelector("+quote("#editor "+field)+")")
}

// press presses a key, perhaps with Control.
func (p *tab) press(key string, control bool) {
	p.Helper()
	if control {
		p.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(cdpinput.ModifierCtrl)))
		return
	}
	p.do(chromedp.KeyEvent(key))
}

// focused waits until an element has the focus.
func (p *tab) focused(selector string) {
	p.Helper()
	p.waitFor(selector+" has the focus", "document.activeElement.matches("+quote(selector)+")")
}

// at waits until the address bar shows a path.
func (p *tab) at(path string) {
	p.Helper()
	p.waitFor("the address is "+path, "location.pathname + location.search === "+quote(path))
}

// submit submits the form, and waits until it is closed and no more in the address.
func (p *tab) submit() {
	p.Helper()
	p.click("#editor .submit")
	p.closed("#editor")
	p.waitFor("the form is no more in the address", "!history.state?.editor")
}

// createNode creates a node by its form, with a name or the default one.
func (p *tab) createNode(name string) {
	p.Helper()
	p.form("node")
	if name != "" {
		p.paste("#text", strings.Replace(p.value("#text"), nameOf(p.value("#text")), name, 1))
	}
	p.submit()
	if name != "" {
		p.waitFor("node "+name, "document.getElementById("+quote("node-"+name)+")")
	}
}

// nameOf is the name in a manifest.
func nameOf(manifest string) string {
	_, after, _ := strings.Cut(manifest, "\n  name: ")
	name, _, _ := strings.Cut(after, "\n")
	return name
}

// createPod creates a pod by its form, perhaps with a regex.
func (p *tab) createPod(name, regex string) {
	p.Helper()
	p.form("pod")
	p.paste("#text", strings.Replace(p.value("#text"), nameOf(p.value("#text")), name, 1))
	if regex != "" {
		p.typeIn("#regex", regex)
	}
	p.submit()
}

// panel opens the panel of a pod by a click.
func (p *tab) panel(selector string) {
	p.Helper()
	p.click(selector)
	p.waitFor("the panel is open", "document.querySelector('#panel').open && document.querySelector('#verdict')")
}

// awaited makes an evaluation wait for a promise.
func awaited(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams {
	return p.WithAwaitPromise(true)
}
