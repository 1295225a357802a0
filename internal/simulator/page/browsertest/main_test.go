// Package browsertest drives the page in a real Chromium, by clicks and typing,
// on a real simulator. Without a Chromium it skips, and says so.
package browsertest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/api"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// All tests share one simulator, its page, and one browser.
var (
	sim      *simulator.Simulator
	server   *api.Server
	handler  http.Handler // what server serves
	chromium context.Context
)

func TestMain(m *testing.M) {
	binary := findChromium()
	if binary == "" {
		_ = os.Getenv("INSTALLED") // as testkit.NotTested
		fmt.Println("*** NOT TESTED: no chromium: make chromium installs it (Debian)")
		return
	}
	testkit.Main(m, func(ctx context.Context) (func() error, error) {
		err := startAll(ctx, binary)
		return func() error {
			if err := chromedp.Cancel(chromium); err != nil {
				fmt.Fprintln(os.Stderr, "chromium:", err)
			}
			server.Stop()
			return sim.Stop()
		}, err
	})
}

func startAll(ctx context.Context, binary string) (err error) {
	if sim, err = simulator.Start(ctx, simulator.Config{Variant: "none"}); err != nil {
		return err
	}
	pages, err := page.New(ctx, sim)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	mux.Handle("/api/v1/", api.Handler(sim, func() {}))
	handler = mux
	if server, err = api.Listen("127.0.0.1", 0, "", mux); err != nil {
		return err
	}
	// Without the defaults of chromedp: they disable features that the page may need.
	allocator, _ := chromedp.NewExecAllocator(ctx,
		chromedp.ExecPath(binary), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.WindowSize(1280, 800),
	)
	quiet := func(string, ...any) {} // a newer Chromium says things that chromedp does not know
	chromium, _ = chromedp.NewContext(allocator, chromedp.WithErrorf(quiet))
	return chromedp.Run(chromium)
}

func findChromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err == nil {
			return path
		}
	}
	return ""
}
