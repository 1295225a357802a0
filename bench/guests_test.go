package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

func TestEveryFloorIsBuiltFromTheSourceBesideIt(t *testing.T) { testkit.CheckGuests(t, "testdata") }

func ofGuest(name string, r role, wasm []byte) *variant {
	d := &variant{name: name, role: r, wasm: wasm}
	d.open = func(c *cluster) (session, error) { return openGuest(c, wasm, wasmhost.Args{}) }
	if r != floor {
		d.serve = func(tb testing.TB) string { return serveGuest(tb, wasm) }
	}
	return d
}

// askedAgain is a guest that the host calls for each pod, as for the first of its kind: there
// is no room for answers.
func askedAgain(name string, wasm []byte, timeout wasmhost.Timeout) *variant {
	return &variant{name: name, open: func(c *cluster) (session, error) {
		return openGuest(c, wasm, wasmhost.Args{AnswersLimit: resource.MustParse("1"), CallTimeout: timeout})
	}}
}

// guest is a session with a guest in the host of package scheduler.
type guest struct {
	*inScheduler
	host *wasmhost.Host
}

// opened numbers the guests: each has its own metrics.
var opened atomic.Int64

func openGuest(c *cluster, wasm []byte, args wasmhost.Args) (session, error) {
	args.GuestURL = "file://guest.wasm" // which is not read
	host := wasmhost.New(wasmhost.Options{Fetch: func(context.Context, wasmhost.Args) ([]byte, error) { return wasm, nil }})
	g := &guest{host: host}
	started, err := g.host.Start(background, fmt.Sprintf("Wasm%d", opened.Add(1)), args)
	if err != nil {
		return nil, err
	}
	pl := started.Plugin(background, c.Handle)
	if _, ok := pl.(fwk.FilterPlugin); !ok {
		return nil, errors.Join(errors.New("the guest has no filter"), g.host.Close())
	}
	g.inScheduler = pluginSession(c, pl)
	return g, nil
}

// Close implements session.
func (g *guest) Close() error { return g.host.Close() }

// serveGuest gives a guest to a real scheduler.
func serveGuest(tb testing.TB, wasm []byte) string {
	file := filepath.Join(tb.TempDir(), "guest.wasm")
	testkit.Must(tb, os.WriteFile(file, wasm, 0o600))
	return withPlugin("WasmRegexScheduling") + `  pluginConfig:
  - name: WasmRegexScheduling
    args:
      guestURL: file://` + file + "\n"
}
