package browsertest

import (
	"context"
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// screenshots is the directory for pictures, from the environment.
var screenshots = os.Getenv("SCREENSHOTS")

// shoot takes a picture.
func (p *tab) shoot(name string, height int64) {
	p.Helper()
	p.do(chromedp.EmulateViewport(1280, height), chromedp.Evaluate(`document.querySelector("#notices")?.replaceChildren()`, nil))
	p.scheme("light")
	var picture []byte
	p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		picture, err = cdppage.CaptureScreenshot().Do(ctx)
		return err
	}), emulation.SetEmulatedMedia())
	testkit.Must(p, save(name+"-light.png", picture))
}

// TestScreenshots takes the pictures that the documents show.
func TestScreenshots(t *testing.T) {
	if screenshots == "" {
		t.Skip("set SCREENSHOTS to a directory to take pictures: make screenshots")
	}
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	p.do(chromedp.Navigate(server.URL() + "/"))
	p.click("#example")
	p.panel("#on-default-kubecon")
	p.shoot("scheduled-pod", 1250)

	p = open(t, "/")
	p.configure(head + plugins + guestV2)
	p.walk()
	p.click("#panel [data-close]")
	p.many("node", "cloudnative-{n}", "6", "")
	p.many("pod", "web-{n}", "14", "")
	p.many("pod", "batch-{n}", "5", "cloudnative-[1-3]")
	p.says("#summary", "20 running")

	p.configure(head) // with which no pod is lost
	p.click("#cog")
	p.paste("#text", head+plugins+guestV2)
	p.click("#compare")
	p.waitWithin(trial, "the comparison is shown", "location.pathname.startsWith('/results/')")
	p.shoot("comparison", 1100)
	p.click("#each > summary")
	p.click("#pods tr.pod")
	p.do(chromedp.Evaluate("document.querySelector('#pods').scrollIntoView()", nil))
	p.shoot("compared-pod", 860)
}
