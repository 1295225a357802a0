package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/fetch"
)

// plugin is a guest as the framework sees it. mask decides which of its interfaces
// the framework finds.
type plugin struct {
	name     string
	url      string // as it may be shown
	host     *Host
	guest    *abi.Guest
	settings abi.Settings
	args     Args
	ctx      context.Context // of the start, for the values in it
	key      fwk.StateKey
	events   []fwk.ClusterEventWithHint

	sharing                   sharing
	whySharing, notRemembered string // why the sharing is as it is; why answers are not remembered, or ""

	// What the guest may ask in a scheduling cycle, and in a binding cycle. They are
	// nil while the guest is only checked.
	cycleView, bindingView abi.Scheduler
	handle                 fwk.Handle

	decidesBy *abi.Fields    // nil for a guest that does not say
	answers   *answers.Cache // nil for a guest of which nothing is remembered
	metrics   *answerMetrics
	hints     hints

	pool      *pool
	watchdog  watchdog
	last      atomic.Pointer[begun]
	beginning sync.Mutex
	closed    atomic.Bool
	stop      context.CancelFunc // ends the watch
}

var errClosed = errors.New("the guest is closed")

func (h *Host) newPlugin(ctx context.Context, name string, from fetch.Source, args Args) (*plugin, error) {
	wasm, err := h.fetch(ctx, from, args)
	if err != nil {
		return nil, err
	}
	guest, err := h.compile(ctx, wasm, args)
	if err != nil {
		return nil, err
	}
	timeout := args.callTimeout()
	p := &plugin{
		name: name, url: from.String(), args: args, host: h, guest: guest, notRemembered: whyForgotten(guest),
		settings: abi.Settings{Config: args.GuestConfig, LogSeverity: args.LogSeverity, Log: logGuest, CallTimeout: timeout},
		ctx:      context.WithoutCancel(ctx), key: naming.Key(name),
	}
	p.sharing, p.whySharing = sharingOf(guest, args)
	p.pool = newPool(p.sharing.instances())
	for _, counter := range []*metrics.CounterVec{traps, replacements, skipped} {
		counter.WithLabelValues(name) // which is 0 until something happens
	}
	watched, stop := context.WithCancel(p.ctx)
	p.stop = stop
	if timeout > 0 {
		go p.watchdog.run(watched.Done(), timeout)
	}
	if err := p.startFirst(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// startFirst makes the first instance, so that a guest that cannot start does
// not get as far as a pod.
func (p *plugin) startFirst() error {
	s := p.pool.lock()
	defer p.pool.unlock(s)
	if err := p.provide(s); err != nil {
		err = fmt.Errorf("failed to create a guest pool: %w", err)
		if trap := (*abi.Trap)(nil); errors.As(err, &trap) && trap.ExitCode == 1 {
			return &ArgsError{"guestConfig", err} // what a guest refuses by itself
		}
		return err
	}
	var err error
	if p.decidesBy, err = s.instance.DecidesBy(); err != nil {
		return err
	}
	if p.notRemembered == "" {
		p.metrics = answerMetricsOf(p.name)
		p.answers = answers.New(p.decidesBy, p.args.answersLimit(), p.args.recheckEvery(), p.metrics.size)
	}
	p.events, err = p.eventsOf(s.instance)
	return err
}

func (p *plugin) Name() string { return p.name }

// closePatience is how long Close waits for calls.
const closePatience = 5 * time.Second

// Close implements io.Closer. It ends calls that are under way. One that cannot be
// interrupted is waited for; if it does not end, its guest is left as it is.
func (p *plugin) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	p.host.forget(p)
	if p.answers != nil {
		p.answers.Stop()
	}
	p.watchdog.interrupt(errClosed)
	p.stop()
	deadline := time.Now().Add(closePatience)
	for ; p.watchdog.count() > 0; time.Sleep(time.Millisecond) { // again where an instance is busy, or moved meanwhile
		if time.Now().After(deadline) {
			return fmt.Errorf("plugin %s: guest %s is left behind: a call has not returned", p.name, p.url)
		}
		p.endIdle()
	}
	return p.guest.Close(context.Background())
}

// endIdle ends the instances that are not being called.
func (p *plugin) endIdle() {
	for _, s := range p.pool.all() {
		if s.tryLock() {
			p.drop(s)
			p.pool.unlock(s)
		}
	}
	for range maxSpare {
		p.end(p.pool.takeSpare())
	}
}

// provide sees to it that there is an instance in a locked slot.
func (p *plugin) provide(s *slot) error {
	if s.instance != nil && !s.instance.Interrupted() { // as one can be whose long call has just ended
		return nil
	}
	p.drop(s)
	if p.closed.Load() {
		return errClosed
	}
	if s.instance = p.pool.takeSpare(); s.instance != nil {
		return nil
	}
	began := time.Now()
	started, err := p.guest.Start(p.ctx, p.settings)
	if err != nil {
		return err
	}
	s.instance = &instance{Instance: started}
	p.watchdog.running.Store(s.instance, &seenCall{})
	instances.WithLabelValues(p.name).Inc()
	p.countMemory(s.instance)
	if p.closed.Load() { // Close may have looked before the instance was there
		p.drop(s)
		return errClosed
	}
	if s.lost {
		s.lost = false
		replacements.WithLabelValues(p.name).Inc()
		klog.FromContext(p.ctx).Info("Replaced the Wasm guest", "plugin", p.name, "guest", p.url, "took", time.Since(began))
	}
	return nil
}

// drop closes the instance of a locked slot.
func (p *plugin) drop(s *slot) {
	p.end(s.instance)
	s.instance = nil
}

// end closes an instance, if there is one.
func (p *plugin) end(i *instance) {
	if i == nil {
		return
	}
	_ = i.Close(context.Background())
	p.watchdog.running.Delete(i)
	instances.WithLabelValues(p.name).Dec()
	memory.WithLabelValues(p.name).Add(-float64(i.memory))
}

// countMemory tells the metrics how big an instance is.
func (p *plugin) countMemory(i *instance) {
	if size := i.MemorySize(); size != i.memory {
		memory.WithLabelValues(p.name).Add(float64(size) - float64(i.memory))
		i.memory = size
	}
}
