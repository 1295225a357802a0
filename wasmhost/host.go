// Package wasmhost puts Wasm guests into kube-scheduler: those that are made for
// sigs.k8s.io/kube-scheduler-wasm-extension, whose host it takes the place of.
//
//	app.NewSchedulerCommand(app.WithPlugin(name, wasmhost.PluginFactory(name)))
//
// Guests are fetched with a timeout, a size limit and any transport, their args
// decoded strictly, and whatever is wrong with one is told on a single line that
// names plugin, URL and cause.
//
// A guest has as many instances as it can use, but no more than there are
// processors (see rule.go), each of which has seen the cycle that it is called
// for (see cycle.go). One that traps costs the pod that met the trap an Error; the
// instance is dropped, and the next call gets another.
//
// The package is a thin adapter between the framework of the scheduler and
// internal/abi, which runs the guests. It knows nothing of what they decide.
package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// What a [Host] does unless told otherwise.
const (
	DefaultTimeout  = 10 * time.Second
	DefaultMaxBytes = 64 << 20
)

// Host fetches guests and makes plugins of them. The zero value is ready to use.
// A Host fetches each URL once and remembers the bytes, and compiles them once,
// so that all profiles run the same program; use a new Host for each start of a
// scheduler.
type Host struct {
	// Transport carries http and https. Nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Timeout bounds each fetch from first to last byte. Zero is DefaultTimeout.
	Timeout time.Duration
	// MaxBytes bounds a guest's size where its args do not. Zero is
	// DefaultMaxBytes.
	MaxBytes int64
	// NoCache ignores [Args.CompilationCache], which names a directory to write
	// to: for a process that anyone may configure.
	NoCache bool

	mu       sync.Mutex
	fetched  map[string]fetched // by URL
	compiled map[programKey]*compiled
	plugins  map[*plugin]struct{} // all that are open
	caches   caches
}

// PluginFactory returns what the scheduler's registry needs to make the plugin
// of this name from its args, by a Host of its own.
func PluginFactory(name string) frameworkruntime.PluginFactory { return new(Host).Factory(name) }

// New makes a plugin of this name, whose args are a *runtime.Unknown with JSON
// or YAML in it, as in [Args]. It is an io.Closer too.
func New(ctx context.Context, name string, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	return PluginFactory(name)(ctx, args, handle)
}

func (h *Host) timeout() time.Duration {
	if h.Timeout == 0 {
		return DefaultTimeout
	}
	return h.Timeout
}

// sizeLimit bounds the size of a guest, in bytes.
func (h *Host) sizeLimit(args Args) int64 {
	switch {
	case !args.GuestSizeLimit.IsZero():
		return args.GuestSizeLimit.Value()
	case h.MaxBytes != 0:
		return h.MaxBytes
	}
	return DefaultMaxBytes
}

// Factory returns what the scheduler's registry needs to make the plugin of
// this name from its args.
func (h *Host) Factory(name string) frameworkruntime.PluginFactory {
	return func(ctx context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		args, err := DecodeArgs(obj)
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", name, lineError{err})
		}
		return h.open(ctx, name, args, handle)
	}
}

func (h *Host) open(ctx context.Context, name string, args Args, handle fwk.Handle) (fwk.Plugin, error) {
	started, err := h.Start(ctx, name, args)
	if err != nil {
		return nil, err
	}
	return started.Plugin(ctx, handle), nil
}

// Started is a guest that waits to become a plugin.
type Started struct{ p *plugin }

// Start fetches a guest and starts it, for who wants to know that it can be used
// before there is a scheduler.
func (h *Host) Start(ctx context.Context, name string, args Args) (*Started, error) {
	from := parseSource(args.GuestURL)
	p, err := h.newPlugin(ctx, name, from, args)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: guest %s: %w", name, from.shown, lineError{err})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.plugins == nil {
		h.plugins = map[*plugin]struct{}{}
	}
	h.plugins[p] = struct{}{}
	return &Started{p}, nil
}

// Plugin makes the guest the plugin of a scheduler. It is for one scheduler, once.
// The plugin is an io.Closer too.
func (s *Started) Plugin(ctx context.Context, handle fwk.Handle) fwk.Plugin {
	p := s.p
	if handle != nil {
		p.scheduler, p.beside = &scheduler{handle: handle}, beside(handle)
	}
	if why := forgetful(p.guest.Guest); why != "" {
		klog.FromContext(ctx).Info("Nothing is remembered of what the guest answers, and opportunistic batching is off for all pods of its profile: "+why, "plugin", p.name, "guest", p.url)
	}
	return mask(p)
}

// Close stops all guests that the Host has started.
func (h *Host) Close() error {
	h.mu.Lock()
	plugins := h.plugins
	h.plugins = nil
	h.mu.Unlock()
	var errs []error
	for p := range plugins {
		errs = append(errs, p.Close())
	}
	return errors.Join(append(errs, h.caches.close(context.Background()))...)
}

var _ io.Closer = (*Host)(nil)

// forget is for a plugin that was closed.
func (h *Host) forget(p *plugin) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.plugins, p)
}

// guest returns the bytes behind a URL.
func (h *Host) guest(ctx context.Context, from source, args Args) (fetched, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	guest, ok := h.fetched[args.GuestURL]
	if !ok {
		wasm, err := h.fetch(ctx, from, h.sizeLimit(args))
		if err != nil {
			return fetched{}, err
		}
		if h.fetched == nil {
			h.fetched = map[string]fetched{}
		}
		guest = newFetched(wasm)
		h.fetched[args.GuestURL] = guest
	}
	if err := checkSize(int64(len(guest.wasm)), h.sizeLimit(args)); err != nil { // another plugin's limit was higher
		return fetched{}, err
	}
	return guest, guest.check(args)
}
