// Package wasmhost puts Wasm guests into kube-scheduler through the unmodified
// upstream host, sigs.k8s.io/kube-scheduler-wasm-extension.
//
// It adds what upstream leaves out: args are decoded strictly; a guest is
// fetched with a timeout, a size limit and any transport; whatever is wrong with
// one is told on a single line that names plugin, URL and cause; a guest that
// traps later on is replaced before the next pod (see replace.go), where upstream
// would keep the broken instance for ever; and what a guest answers to PostFilter
// and NormalizeScore reaches the framework as it was meant (see hooks.go).
//
// It does not run Wasm itself, and knows nothing of what a guest decides.
package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// What a [Host] does unless told otherwise.
const (
	DefaultTimeout  = 10 * time.Second
	DefaultMaxBytes = 64 << 20
)

// Host fetches guests and hands them to the upstream host. The zero value is
// ready to use. A Host fetches each URL once and remembers the bytes, so that
// all profiles and all replacements of a guest run the same program; use a new
// Host for each start of a scheduler.
type Host struct {
	// Transport carries http and https. Nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Timeout bounds each fetch from first to last byte. Zero is DefaultTimeout.
	Timeout time.Duration
	// MaxBytes bounds a guest's size. Zero is DefaultMaxBytes.
	MaxBytes int64

	mu      sync.Mutex
	fetched map[string][]byte // by URL
	opened  []io.Closer
}

func (h *Host) timeout() time.Duration {
	if h.Timeout == 0 {
		return DefaultTimeout
	}
	return h.Timeout
}

func (h *Host) maxBytes() int64 {
	if h.MaxBytes == 0 {
		return DefaultMaxBytes
	}
	return h.MaxBytes
}

// Factory returns what the scheduler's registry needs to make the plugin of
// this name from its args.
func (h *Host) Factory(name string) frameworkruntime.PluginFactory {
	return func(ctx context.Context, obj runtime.Object, handle framework.Handle) (framework.Plugin, error) {
		args, err := DecodeArgs(obj)
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", name, lineError{err})
		}
		return h.open(ctx, name, args, handle)
	}
}

// Check fetches a guest, starts it and stops it again, to find out before
// anything else happens whether it can be used.
func (h *Host) Check(ctx context.Context, name string, args Args) error {
	pl, err := h.open(ctx, name, args, nil)
	if err != nil {
		return err
	}
	return pl.(io.Closer).Close()
}

// Close stops all guests that the Host has started.
func (h *Host) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, pl := range h.opened {
		errs = append(errs, pl.Close())
	}
	h.opened = nil
	return errors.Join(errs...)
}

func (h *Host) open(ctx context.Context, name string, args Args, handle framework.Handle) (framework.Plugin, error) {
	pl, err := h.start(ctx, name, args, handle)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: guest %s: %w", name, redact(args.GuestURL), lineError{err})
	}
	return pl, nil
}

func (h *Host) start(ctx context.Context, name string, args Args, handle framework.Handle) (framework.Plugin, error) {
	wasm, err := h.guest(ctx, args.GuestURL)
	if err != nil {
		return nil, err
	}
	s := source{plugin: name, wasm: wasm, args: args, handle: handle}
	pl, err := newReplaceable(ctx, s)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = append(h.opened, pl.(io.Closer))
	return pl, nil
}

// guest returns the bytes behind a URL.
func (h *Host) guest(ctx context.Context, guestURL string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if wasm, ok := h.fetched[guestURL]; ok {
		return wasm, nil
	}
	wasm, err := h.fetch(ctx, guestURL)
	if err != nil {
		return nil, err
	}
	if h.fetched == nil {
		h.fetched = map[string][]byte{}
	}
	h.fetched[guestURL] = wasm
	return wasm, nil
}

// redact hides the password that a URL may carry.
func redact(guestURL string) string {
	u, err := url.Parse(guestURL)
	if err != nil {
		return OneLine(guestURL)
	}
	if u.User == nil {
		return guestURL
	}
	return u.Redacted()
}
