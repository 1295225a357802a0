package browsertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// screenshots is the directory that the environment asks for pictures in.
var screenshots = os.Getenv("SCREENSHOTS")

// shoot takes a picture of what is on the screen, in both colour schemes.
func (p *tab) shoot(name string) {
	p.Helper()
	p.do(chromedp.Evaluate(`document.querySelector("#notices").replaceChildren()`, nil))
	for _, scheme := range []string{"light", "dark"} {
		var picture []byte
		p.do(
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}),
			chromedp.ActionFunc(func(ctx context.Context) (err error) {
				picture, err = page.CaptureScreenshot().WithOptimizeForSpeed(false).Do(ctx)
				return err
			}),
		)
		if err := os.WriteFile(filepath.Join(screenshots, name+"-"+scheme+".png"), picture, 0o644); err != nil {
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
	p.shoot("empty")
	p.configure(head + plugins + guestV2)
	p.walk("WasmRegexScheduling")
	p.do(chromedp.EmulateViewport(1280, 1000))
	p.shoot("invalid-regex")
	p.click("#panel [data-close]")
	p.panel("#waiting-default-nowhere")
	p.shoot("pending-pod")
	p.do(chromedp.EmulateViewport(1280, 800))
	p.click("#panel [data-close]")
	for _, name := range []string{"web-1", "web-2", "api", "batch"} {
		p.createPod(name, "")
	}
	p.says("#summary", "5 running")
	p.shoot("cluster")
	p.panel("#on-default-matches")
	p.do(chromedp.EmulateViewport(1280, 1250))
	p.shoot("scheduled-pod")
	p.do(chromedp.EmulateViewport(1280, 800))
	p.click("#panel [data-close]")
	p.click("#cog")
	p.waitFor("the form is there", "document.querySelector('#editor').open")
	p.paste("#text", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: default-scheduler\n  plugins:\n    multiPoint:\n      enabled:\n      - name: NoSuchPlugin\n")
	p.click("#editor .submit")
	p.says("#problems", "NoSuchPlugin")
	p.shoot("bad-configuration")
	p.do(chromedp.KeyEvent("\x1b"))
	p.closed("#editor")
	p.form("pod")
	p.typeIn("#regex", "kubecon-.*")
	p.says("#preview", "Matches 2 of 3")
	p.shoot("new-pod")
	p.do(chromedp.KeyEvent("\x1b"))
	p.closed("#editor")
	p.do(chromedp.Navigate(server.URL() + "/pods"))
	p.says("main", "Pods")
	p.shoot("pods")
	p.do(chromedp.Navigate(server.URL() + "/objects"))
	p.says("main", "Namespaces")
	p.shoot("objects")
}
