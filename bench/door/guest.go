package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/bench/work"
	"wasmkwokwizardry.io/regex-scheduling/static"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

func init() {
	for _, d := range []struct{ name, about string }{
		{"v1", "the basic guest"}, {"v2", "the fast guest"},
	} {
		wasm, err := fs.ReadFile(static.Files, "regex_"+d.name+".wasm")
		if err != nil {
			panic(err) // embedded when this was built
		}
		Register(ofGuest(d.name, Ours, d.about, wasm))
	}
}

// fromFile is the door of a guest that stands in a file.
func fromFile(name, file string, role Role, about string) (Door, error) {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return Door{}, fmt.Errorf("guest %s: %w", name, err)
	}
	return ofGuest(name, role, about, wasm), nil
}

// nameOf makes a door's name of a file's.
func nameOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".wasm")
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" /=\t", r) {
			return '_'
		}
		return r
	}, name)
}

func ofGuest(name string, role Role, about string, wasm []byte) Door {
	d := Door{Name: name, Role: role, About: about, Wasm: wasm}
	d.Open = func(ctx context.Context, cluster *work.Cluster) (Session, error) {
		return openGuest(ctx, wasm, cluster)
	}
	if role != Floor {
		d.Serve = func(context.Context) (Service, error) { return serveGuest(wasm) }
	}
	return d
}

// guest is a guest in the host of cmd/scheduler.
type guest struct {
	plugin
	host *wasmhost.Host
	name string
}

// opened numbers the guests, so that each has metrics of its own.
var opened atomic.Int64

func openGuest(ctx context.Context, wasm []byte, cluster *work.Cluster) (Session, error) {
	file, err := keep(wasm)
	if err != nil {
		return nil, err
	}
	defer os.Remove(file)
	args, err := json.Marshal(wasmhost.Args{GuestURL: "file://" + file})
	if err != nil {
		return nil, err
	}
	g := &guest{host: &wasmhost.Host{}, name: fmt.Sprintf("Wasm%d", opened.Add(1))}
	pl, err := g.host.Factory(g.name)(ctx, &runtime.Unknown{Raw: args}, cluster.Handle())
	if err != nil {
		return nil, err
	}
	filter, ok := pl.(fwk.FilterPlugin)
	if !ok {
		return nil, errors.Join(errors.New("the guest has no filter"), g.host.Close())
	}
	g.plugin = plugin{cluster: cluster, filter: filter, prefilter: pl.(fwk.PreFilterPlugin)}
	return g, nil
}

func keep(wasm []byte) (file string, err error) {
	f, err := os.CreateTemp("", "bench-*.wasm")
	if err != nil {
		return "", err
	}
	_, err = f.Write(wasm)
	return f.Name(), errors.Join(err, f.Close())
}

// PreFilter implements PreFilterer.
func (g *guest) PreFilter(pod *v1.Pod) { g.preFilter(pod) }

// Memory implements Guest.
func (g *guest) Memory() int {
	if n := gauge("scheduler_wasm_guest_instances", g.name); n > 0 {
		return int(gauge("scheduler_wasm_guest_memory_bytes", g.name) / n)
	}
	return 0
}

// Close implements Session.
func (g *guest) Close() error { return g.host.Close() }

// serveGuest lets a real scheduler have a guest.
func serveGuest(wasm []byte) (Service, error) {
	file, err := keep(wasm)
	if err != nil {
		return Service{}, err
	}
	return Service{
		Config: profile("WasmRegexScheduling") + `  pluginConfig:
  - name: WasmRegexScheduling
    args:
      guestURL: file://` + file + "\n",
		Close: func() error { return os.Remove(file) },
	}, nil
}
