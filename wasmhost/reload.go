package wasmhost

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	guestabi "wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// Results of a try to replace a guest.
const success, failure = "success", "failure"

// reload looks for a new guest again and again, until ctx ends.
func (p *plugin) reload(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for s := (&source{version: p.lease.Load().guest.version, said: sets.New[string]()}); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.look(ctx, s)
		}
	}
}

// source is what a plugin knows of where its guest comes from.
type source struct {
	version string            // of what was looked at last; empty is not known
	last    [sha256.Size]byte // the digest of that
	looks   int               // so far
	refused map[[sha256.Size]byte]*refusal
	said    sets.Set[string] // causes of the failures in a row

	wakes bool // pending pods are to be tried with the new guest
	woke  time.Time
}

// maxRefused bounds how many guests are known that were refused: a source may have another one at each look.
const maxRefused = 16

func (s *source) refuse(m module, err error) error {
	r := s.refused[m.sha256]
	if r == nil {
		if len(s.refused) >= maxRefused || s.refused == nil {
			s.refused = map[[sha256.Size]byte]*refusal{}
		}
		r = &refusal{}
		s.refused[m.sha256] = r
	}
	r.skipped = min(2*r.skipped+1, maxSkipped)
	r.due = s.looks + r.skipped + 1
	r.err = fmt.Errorf("%w: the new guest has the digest sha256:%x", err, m.sha256)
	return r.err
}

// refusal is of a guest that did not start, or does not fit. It is tried again, since a machine may have been busy, but more and more
// rarely. Nil is of a guest that was not refused.
type refusal struct {
	err     error
	skipped int // looks until it is tried again
	due     int // the look that does so
}

// maxSkipped bounds them.
const maxSkipped = 127

// wakePause is how long a source that has one guest after another lets pending pods rest, beside their backoff.
const wakePause = 30 * time.Second

// maxCauses bounds how many causes of failures in a row are said.
const maxCauses = 10

// look looks for a new guest once. What fails, or panics, changes nothing.
func (p *plugin) look(ctx context.Context, s *source) {
	err := p.renewOrPanic(ctx, s)
	if ctx.Err() != nil {
		return
	}
	p.setFailing(err != nil)
	if err == nil {
		s.said = sets.New[string]()
		return
	}
	reloads.WithLabelValues(p.name, failure).Inc()
	cause := strings.Map(func(r rune) rune { // ports, times
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, err.Error())
	if len(s.said) < maxCauses && !s.said.Has(cause) {
		s.said.Insert(cause)
		klog.FromContext(ctx).Error(err, "The guest was not replaced: the one before goes on", "plugin", p.name)
		p.report(err)
	}
}

func (p *plugin) renewOrPanic(ctx context.Context, s *source) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("plugin %s: panic: %v", p.name, cause)
			klog.FromContext(ctx).Error(err, "Looking for a new guest", "stack", string(debug.Stack()))
		}
	}()
	err = p.renew(ctx, s)
	if s.wakes && time.Since(s.woke) >= wakePause {
		p.wake(ctx)
		s.wakes, s.woke = false, time.Now()
	}
	return err
}

// renew begins to use the guest that is at the source now, if it is another one.
func (p *plugin) renew(ctx context.Context, s *source) error {
	runs := p.lease.Load().guest
	h, args := runs.host, runs.args
	// 1. What the source has, if it is another guest, or one to try again.
	s.looks++
	last := s.refused[s.last]
	if last != nil && last.due <= s.looks {
		s.version = "" // the bytes are needed
	}
	m, err := h.get(ctx, p.name, args, s.version)
	switch {
	case err != nil:
		return err
	case m.wasm == nil && last == nil:
		return nil
	case m.wasm == nil:
		return last.err
	}
	s.version, s.last = m.version, m.sha256
	if m.sha256 == runs.sha256 {
		return nil
	}
	refused := s.refused[m.sha256]
	if refused != nil && refused.due > s.looks {
		return refused.err
	}
	err = p.tidy()
	if err != nil {
		s.version = ""
		return h.about(p.name, args, err)
	}
	// 2. The guest, in place of the one that runs.
	g, err := h.run(ctx, p.name, args, m)
	if err == nil {
		err = h.about(p.name, args, p.replace(g))
	}
	if err != nil {
		return s.refuse(m, err)
	}
	delete(s.refused, m.sha256)
	reloads.WithLabelValues(p.name, success).Inc()
	klog.FromContext(ctx).Info("The guest was replaced", "plugin", p.name, "guest", g.url, "hooks", g.compiled.Exports, "digest", g.digest, "before", runs.digest)
	s.wakes = true
	return nil
}

// maxBefore bounds the guests that are open beside the one that is there: each has its own memory.
const maxBefore = 2

// tidy has the guests closed whose last attempt is over, and reports an error if too many are left.
func (p *plugin) tidy() error {
	left := func() (n int) {
		h := p.lease.Load().guest.host
		h.mu.Lock()
		defer h.mu.Unlock()
		for g := range h.guests {
			if g.plugin == p {
				n++
			}
		}
		return n - 1
	}
	for tries := 0; left() >= maxBefore; tries++ {
		if tries == 10 {
			return fmt.Errorf("%d guests before this one still have attempts to schedule a pod, which Permit can delay: the new guest is used when one is over", left())
		}
		runtime.GC() // a large heap is not collected for long, and the memory of guests is no part of it
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// replace uses a guest in place of the one that is there, or closes it.
func (p *plugin) replace(g *guest) error {
	err := p.fits(g)
	p.closing.Lock()
	defer p.closing.Unlock()
	g.host.mu.Lock() // so that its Close comes before or after
	switch {
	case err != nil:
	case p.closed:
		err = errClosed
	case g.host.ctx.Err() != nil:
		err = errHostClosed
	default:
		p.lease.Load().guest.setUsed(false)
		p.use(newLease(g))
	}
	g.host.mu.Unlock()
	if err != nil {
		return errors.Join(err, g.Close())
	}
	return nil
}

// registered are hooks, of each of which the framework learns at the start whether a guest has one.
var registered = [][]abi.Hook{{abi.Filter, abi.PostFilter}, {abi.Score}, {abi.NormalizeScore}, {abi.AddPod, abi.RemovePod}, bindingCycle}

// fits reports why a guest cannot do without a start of the scheduler, which knows hooks and events of the first.
func (p *plugin) fits(g *guest) error {
	for _, hooks := range registered {
		if g.compiled.Exports.Has(hooks...) && !p.hooks.Has(hooks...) {
			return fmt.Errorf("it exports one of %v, and the guest that the scheduler has started with none of them: this needs a restart of the scheduler", hooks)
		}
	}
	for _, wanted := range g.events {
		missing := wanted.Event.ActionType
		for _, known := range p.events {
			if known.Event.Resource == wanted.Event.Resource || known.Event.Resource == fwk.WildCard {
				missing &^= known.Event.ActionType
			}
		}
		if missing != 0 {
			return fmt.Errorf("it waits for events of %s that the guest that the scheduler has started with does not wait for: this needs a restart of the scheduler", wanted.Event.Resource)
		}
	}
	return nil
}

// hinted are the events of the first guest with the hints of the one that is there when something happens.
func (p *plugin) hinted() []fwk.ClusterEventWithHint {
	events := slices.Clone(p.events)
	for i := range events {
		event := withTaints(events[i].Event)
		events[i].Event = event
		events[i].QueueingHintFn = func(logger klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
			now := p.lease.Load().guest.events
			same := slices.IndexFunc(now, func(e fwk.ClusterEventWithHint) bool { return e.Event.Resource == event.Resource })
			if same < 0 || now[same].QueueingHintFn == nil {
				return fwk.Queue, nil
			}
			return now[same].QueueingHintFn(logger, pod, oldObj, newObj)
		}
	}
	return events
}

// wake has the pending pods of the profile tried again: the new guest may let them run.
func (p *plugin) wake(ctx context.Context) {
	if p.handle == nil {
		return
	}
	pods, _ := p.handle.SharedInformerFactory().Core().V1().Pods().Lister().List(labels.Everything()) // of a cache, which does not fail
	pending := map[string]*v1.Pod{}
	for _, pod := range pods {
		if pod.Spec.NodeName == "" && pod.Spec.SchedulerName == p.handle.ProfileName() {
			pending[klog.KObj(pod).String()] = pod
		}
	}
	p.handle.Activate(klog.FromContext(ctx), pending)
}

// report sends an event about the pod that the scheduler runs in, if it is named in the environment.
func (p *plugin) report(err error) {
	pod := &v1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: os.Getenv("POD_NAMESPACE"), Name: os.Getenv("POD_NAME")}
	if p.handle != nil && pod.Namespace != "" && pod.Name != "" {
		note := printable.Line(err.Error(), guestabi.MaxNote) // the API server refuses more
		p.handle.EventRecorder().Eventf(pod, nil, v1.EventTypeWarning, "GuestNotReplaced", "Reload", "%s", note)
	}
}
