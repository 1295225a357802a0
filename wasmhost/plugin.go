package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/fetch"
)

// plugin is a guest as the framework sees it. mask decides which of its interfaces
// the framework finds.
type plugin struct {
	name     string
	url      string // as it may be shown
	host     *Host
	guest    *compiled
	active   abi.Set
	sharing  sharing
	settings abi.Settings
	args     Args
	ctx      context.Context // of the start, for the values in it
	key      fwk.StateKey
	events   []fwk.ClusterEventWithHint
	metrics  pluginMetrics

	// What the guest may ask in a scheduling cycle, and in a binding cycle. They are
	// nil while the guest is only checked.
	cycleView, bindingView abi.Scheduler

	decidesBy    *abi.Fields  // nil for a guest that does not say
	answers      *answerCache // nil for a guest of which nothing is remembered
	inBackground atomic.Bool  // the guest is asked outside of the scheduling cycles
	eventFailed  atomic.Int64 // when a call for an event has failed, in ns

	pool      *pool
	watchdog  watchdog
	last      atomic.Pointer[begun]
	beginning sync.Mutex
	closed    atomic.Bool
	stop      context.CancelFunc // ends the watch
}

var errClosed = errors.New("the guest is closed")

func (h *Host) newPlugin(ctx context.Context, name string, from fetch.Source, args Args) (*plugin, error) {
	stored, err := h.fetch(ctx, from, args)
	if err != nil {
		return nil, err
	}
	guest, err := h.compile(ctx, stored, args)
	if err != nil {
		return nil, err
	}
	p := &plugin{
		name: name, url: from.String(), args: args, host: h, guest: guest, active: guest.Active(),
		ctx: context.WithoutCancel(ctx), key: naming.Key(name),
		metrics: metricsOf(name), watchdog: watchdog{running: map[*instance]seenCall{}},
	}
	p.settings = abi.Settings{
		Config: args.GuestConfig, LogSeverity: args.LogSeverity, Log: logGuest, StartTimeout: args.callTimeout(),
	}
	p.sharing, _ = sharingOf(guest.Guest, args)
	p.pool = newPool(p.sharing.instances())
	var watched context.Context
	watched, p.stop = context.WithCancel(p.ctx)
	if timeout := args.callTimeout(); timeout > 0 {
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
	if whyForgotten(p.guest.Guest) == "" {
		p.answers = newAnswerCache(p.decidesBy, p.args.answersLimit(), p.args.recheckEvery(), answerMetricsOf(p.name))
	}
	p.events, err = p.eventsOf(s.instance)
	return err
}

// Name implements fwk.Plugin.
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
		p.answers.stop()
	}
	p.watchdog.interrupt(errClosed)
	p.stop()
	deadline := time.Now().Add(closePatience)
	for p.watchdog.count() > 0 { // more than once, if an instance moved meanwhile
		if time.Now().After(deadline) {
			return fmt.Errorf("plugin %s: guest %s is left behind: a call has not returned", p.name, p.url)
		}
		p.endIdle()
	}
	return p.host.release(p.guest)
}

// endIdle ends the instances that are not being called.
func (p *plugin) endIdle() {
	busy := false
	for _, s := range p.pool.all() {
		if !s.tryLock() {
			busy = true
			continue
		}
		p.drop(s)
		p.pool.unlock(s)
	}
	for i := p.pool.takeSpare(); i != nil; i = p.pool.takeSpare() {
		p.end(i)
	}
	if busy {
		time.Sleep(time.Millisecond)
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
	p.watchdog.add(s.instance)
	p.metrics.instances.Inc()
	p.countMemory(s.instance)
	if p.closed.Load() { // Close may have looked before the instance was there
		p.drop(s)
		return errClosed
	}
	if s.lost {
		s.lost = false
		p.metrics.replacements.Inc()
		klog.FromContext(p.ctx).Info("Replaced the Wasm guest", "plugin", p.name, "guest", p.url, "took", time.Since(began))
	}
	return nil
}

// drop closes the instance of a locked slot.
func (p *plugin) drop(s *slot) {
	if s.instance != nil {
		p.end(s.instance)
		s.instance = nil
	}
}

func (p *plugin) end(i *instance) {
	_ = i.Close(context.Background())
	p.watchdog.remove(i)
	p.metrics.instances.Dec()
	p.metrics.memory.Add(-float64(i.memory))
}

// countMemory tells the metrics how big an instance is.
func (p *plugin) countMemory(i *instance) {
	if size := i.MemorySize(); size != i.memory {
		p.metrics.memory.Add(float64(size) - float64(i.memory))
		i.memory = size
	}
}
