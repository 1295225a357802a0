package browsertest

import (
	"context"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page"
)

// screenshots is the directory for pictures, from the environment.
var screenshots = os.Getenv("SCREENSHOTS")

// shoot takes a picture in both colour schemes.
func (p *tab) shoot(name string, height int64) {
	p.Helper()
	p.shootAs(name, 1280, height, "light", "dark")
}

func (p *tab) shootAs(name string, width, height int64, schemes ...string) {
	p.Helper()
	p.do(chromedp.EmulateViewport(width, height), chromedp.Evaluate(`document.querySelector("#notices")?.replaceChildren()`, nil))
	for _, scheme := range schemes {
		var picture []byte
		p.scheme(scheme)
		p.do(
			chromedp.ActionFunc(func(ctx context.Context) (err error) {
				picture, err = cdppage.CaptureScreenshot().Do(ctx)
				return err
			}),
		)
		if err := save(name+"-"+scheme+".png", picture); err != nil {
			p.Fatal(err)
		}
	}
	p.do(emulation.SetEmulatedMedia())
}

func TestScreenshots(t *testing.T) {
	if screenshots == "" {
		t.Skip("set SCREENSHOTS to a directory to take pictures: make screenshots")
	}
	p := open(t, "/")
	p.shootAs("empty", 1280, 600, "light")
	p.configure(head + plugins + guestV2)
	p.walk()
	p.shootAs("invalid-regex", 1280, 900, "light")
	p.click("#panel [data-close]")
	p.panel("#pending-default-unmatched")
	p.shoot("pending-pod", 960)
	p.click("#panel [data-close]")
	p.many("node", "cloudnative-{n}", "6", "")
	p.closed("#editor")
	p.many("pod", "web-{n}", "14", "")
	p.many("pod", "batch-{n}", "5", "cloudnative-[1-3]")
	p.says("#summary", "20 running")
	p.shoot("cluster", 860)
	p.shootAs("projector", 1920, 1080, "light")
	p.shootAs("narrow", 480, 900, "light")
	p.panel("#on-default-matches")
	p.shoot("scheduled-pod", 1250)
	p.click("#panel [data-close]")
	p.click("#node-cloudnative-1")
	p.says("#panel", "Maximum of pods")
	p.shootAs("node", 1280, 860, "light")
	p.click("#panel [data-close]")
	p.shootForms()
	for _, view := range []string{"pods", "objects"} {
		p.do(chromedp.Navigate(server.URL() + "/" + view))
		p.says("main", "default")
		p.shootAs(view, 1280, 860, "light")
	}
	p.shootComparison()
}

// shootComparison compares the current configuration with one that loses pods.
func (p *tab) shootComparison() {
	p.do(chromedp.Navigate(server.URL()))
	p.configure(head)
	p.click("#cog")
	p.paste("#text", head+plugins+guestV2)
	p.click("#compare")
	p.waitWithin(clusters, "the comparison is shown", "location.pathname.startsWith('/compare/')")
	p.shoot("comparison", 1100)
	p.click("#each > summary")
	p.click("#pods tr[tabindex]")
	p.do(chromedp.Evaluate("document.querySelector('#pods').scrollIntoView()", nil))
	p.shootAs("compared-pod", 1280, 860, "light")
}

func (p *tab) shootForms() {
	p.click("#cog")
	p.paste("#text", head+strings.ReplaceAll(plugins, "WasmRegexScheduling", "NoSuchPlugin"))
	p.click("#editor .submit")
	p.says("#problems", "NoSuchPlugin")
	p.shoot("bad-configuration", 800)
	p.discard()
	p.form("pod")
	p.typeIn("#regex", "kubecon-.*")
	p.says("#preview", "Matches 2 of 9")
	p.shootAs("new-pod", 1280, 800, "light")
	p.typeIn("#regex", "kubecon-[")
	p.says("#preview", "missing closing ]")
	p.paste("#text", strings.ReplaceAll(p.value("#text"), "  - name: web", "  - nom: web"))
	p.click("#editor .submit")
	p.says("#problems", "unknown field")
	p.shootAs("refused-pod", 1280, 800, "light")
	p.discard()
	p.click("#new")
	p.shootAs("new-menu", 1280, 800, "light")
	p.click("#new")
	p.click("#more")
	p.click("#reset")
	p.says("#editor", "Reset everything?")
	p.shootAs("reset", 1280, 800, "light")
	p.click("#editor [data-close]")
	p.form("node")
	p.typeIn("#count", "5000")
	p.typeIn("#pattern", "more-{n}")
	p.click("#editor .submit")
	p.waitFor("progress is shown", "document.querySelector('#problems.job progress')?.value > 0")
	p.shootAs("progress", 1280, 800, "light")
	p.click("#editor .job button")
	p.says("#problems", "stopped: ")
	p.discard()
}

func TestScreenshotOfTheStart(t *testing.T) {
	if screenshots == "" {
		t.Skip("set SCREENSHOTS to a directory to take pictures: make screenshots")
	}
	p := open(t, "/")
	starting := page.NewStarting()
	for _, step := range []string{"web server of the guests", "etcd", "kube-apiserver"} {
		starting.Say(step)
	}
	server := httptest.NewServer(starting)
	defer server.Close()
	p.quiet = true // 503 is an error to the browser
	p.do(chromedp.Navigate(server.URL))
	p.shootAs("starting", 1280, 600, "light")
}
