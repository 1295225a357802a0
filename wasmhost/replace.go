package wasmhost

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// replaceable stands before a plugin of the upstream host and replaces it once
// its guest has trapped. The upstream host has one guest instance for all
// scheduling cycles and keeps it after a trap; its memory is then in no
// defined state, and every later pod would suffer.
//
// The pod whose cycle hit the trap gets the error, all through that cycle. The
// next cycle begins with a new guest.
//
// The lock costs nothing that isn't paid already: the upstream host too lets one
// call into a guest at a time. Ours is the one that is waited for, because it
// wastes less time.
type replaceable struct {
	source source
	events []framework.ClusterEventWithHint

	mu      callLock
	guest   hooks
	cycle   *framework.CycleState // of the last PreFilter
	trapped *trap                 // nil while the guest is well
	closed  bool
}

// trap is what became of a guest.
type trap struct {
	pod types.UID // whose cycle it was
	err error
}

var errClosed = errors.New("the guest is closed")

// hooks are the interfaces of one upstream plugin, asserted once. Those that
// the plugin lacks are nil.
type hooks struct {
	closer    io.Closer
	prefilter framework.PreFilterPlugin
	filter    filterPlugin
	score     scorePlugin
	reserve   framework.ReservePlugin
	permit    framework.PermitPlugin
	bind      bindPlugin
}

// takesPartInBinding reports whether the guest may hold what it has promised to
// pods that are about to be bound. No replacement would know of that, so such a
// guest is kept whatever happens, and upstream hands it from cycle to cycle.
func (h hooks) takesPartInBinding() bool { return h.reserve != nil || h.permit != nil || h.bind != nil }

// newReplaceable starts a guest. The plugin has the interfaces of the framework
// that the upstream plugin has (see mask).
func newReplaceable(ctx context.Context, s source) (framework.Plugin, error) {
	pl, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	events, err := eventsOf(ctx, pl)
	if err != nil {
		_ = pl.(io.Closer).Close()
		return nil, err
	}
	traps.WithLabelValues(s.plugin).Add(0) // so that the series is there to be watched
	return mask(&replaceable{source: s, events: events, guest: hooksOf(pl)}), nil
}

// enter makes one call into the guest on behalf of a pod. newCycle is true for
// the call that begins a scheduling cycle.
func (r *replaceable) enter(ctx context.Context, pod *v1.Pod, export string, newCycle bool, call func(hooks) *framework.Status) *framework.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return framework.AsStatus(errClosed)
	}
	if r.trapped != nil && (newCycle || r.trapped.pod != pod.UID) {
		r.replace(ctx)
	}
	if r.trapped != nil {
		return framework.AsStatus(r.trapped.err)
	}
	status := call(r.guest)
	if status.Code() == framework.Error {
		return r.examine(ctx, pod, export, status)
	}
	return status
}

// examine tells a guest that trapped from one that answered with an error of
// its own. Only the text tells them apart: upstream begins it so.
func (r *replaceable) examine(ctx context.Context, pod *v1.Pod, export string, status *framework.Status) *framework.Status {
	err := status.AsError()
	text := err.Error()
	if !strings.HasPrefix(text, "wasm: "+export+" error:") && !strings.HasPrefix(text, "wasm: instantiate error:") {
		return status
	}
	if r.guest.takesPartInBinding() {
		return status
	}
	traps.WithLabelValues(r.source.plugin).Inc()
	klog.FromContext(ctx).Error(err, "Wasm guest trapped, replacing it before the next pod",
		"plugin", r.source.plugin, "guest", redact(r.source.args.GuestURL), "pod", klog.KObj(pod), "export", export)
	r.trapped = &trap{pod: pod.UID, err: lineError{err}}
	return framework.AsStatus(r.trapped.err)
}

// replace starts a new guest in the place of the one that trapped. If that
// fails, the trap stands, and the next cycle tries again.
func (r *replaceable) replace(ctx context.Context) {
	began := time.Now()
	logger := klog.LoggerWithValues(klog.FromContext(ctx), "plugin", r.source.plugin, "guest", redact(r.source.args.GuestURL))
	pl, err := r.source.start(context.WithoutCancel(ctx))
	if err != nil {
		logger.Error(err, "Failed to replace the Wasm guest")
		return
	}
	_ = r.guest.closer.Close()
	r.guest, r.trapped = hooksOf(pl), nil
	logger.Info("Replaced the Wasm guest", "took", time.Since(began))
}

// Close implements io.Closer.
func (r *replaceable) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.guest.closer.Close()
}
