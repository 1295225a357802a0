package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/component-base/metrics"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// plugin is a guest as the framework sees it. mask decides which of its interfaces
// the framework finds.
type plugin struct {
	name   string
	url    string // as it may be shown
	host   *Host
	guest  *abi.Guest
	args   Args
	ctx    context.Context // with the values of the start's; it ends when the plugin is closed
	key    fwk.StateKey
	events []fwk.ClusterEventWithHint

	sharing                   sharing
	whySharing, notRemembered string // why the sharing is as it is; why answers are not remembered, or ""

	// What the guest may ask in a scheduling cycle, and in a binding cycle. They are
	// nil while the guest is only checked.
	cycleView, bindingView abi.Scheduler
	handle                 fwk.Handle

	decidesBy *abi.Fields    // nil for a guest that does not say
	answers   *answers.Store // nil for a guest of which nothing is remembered
	metrics   *answerMetrics

	pool      *pool
	log       *guestLog
	last      atomic.Pointer[cycle] // that was begun last
	beginning sync.Mutex
	stop      context.CancelCauseFunc // ends ctx
	close     func() error            // once
}

// errNoField is of a guest whose one answer would be remembered for all pods and nodes.
var errNoField = errors.New("wasm: decides_by: no field is declared: with the kit, call decidesby.Set in init")

var errClosed = fmt.Errorf("the guest is %w", ErrClosed)

func (h *Host) newPlugin(ctx context.Context, name, url string, args Args) (*plugin, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	if h.options.Fetch == nil {
		return nil, errors.New("the host cannot get guests: set Fetch of wasmhost.Options, as package fetch has it")
	}
	wasm, err := h.options.Fetch(ctx, args)
	if err != nil {
		return nil, err
	}
	timeout := args.callTimeout()
	guest, err := abi.Compile(ctx, wasm, abi.Options{MemoryLimit: args.memoryLimit(), Interruptible: timeout > 0})
	if errors.Is(err, abi.ErrMemoryLimit) {
		err = &ArgsError{"memoryLimit", err}
	}
	if err != nil {
		return nil, err
	}
	lasting, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	p := &plugin{
		name: name, url: url, args: args, host: h, guest: guest, notRemembered: whyForgotten(guest),
		ctx: lasting, stop: stop, key: naming.Key(name), log: &guestLog{plugin: name, url: url},
	}
	p.close = sync.OnceValue(p.closeOnce)
	p.sharing, p.whySharing = sharingOf(guest, args)
	p.pool = &pool{
		plugin: p,
		settings: abi.Settings{
			Config: args.GuestConfig, LogSeverity: args.LogSeverity, Log: p.log.write,
			CallTimeout: timeout, Repeatable: p.notRemembered == "",
		},
	}
	p.pool.fill(p.sharing.instances())
	for _, counter := range []*metrics.CounterVec{traps, skipped} {
		counter.WithLabelValues(name) // which is 0 until something happens
	}
	if timeout > 0 {
		go p.pool.watchdog.run(p.ctx.Done(), timeout)
	}
	h.mu.Lock()
	if h.ctx.Err() == nil {
		h.plugins[p] = struct{}{}
	}
	h.mu.Unlock()
	err = p.startFirst(ctx)
	if err == nil {
		err = ctx.Err() // it may have ended without a call that lasts
	}
	if err == nil {
		err = h.ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// startFirst makes the first instance, so that a guest that cannot start does
// not get as far as a pod.
func (p *plugin) startFirst(ctx context.Context) error {
	s := p.pool.acquire()
	defer p.pool.release(s)
	if err := s.start(ctx); err != nil {
		err = fmt.Errorf("failed to create a guest pool: %w", err)
		trap := (*abi.Trap)(nil)
		if errors.As(err, &trap) && trap.ExitCode == 1 {
			return &ArgsError{"guestConfig", err} // what a guest refuses by itself
		}
		return err
	}
	first := s.instance
	defer context.AfterFunc(ctx, func() { first.Interrupt(context.Cause(ctx)) })()
	var err error
	if p.decidesBy, err = s.instance.DecidesBy(); err != nil {
		return err
	}
	if p.notRemembered == "" {
		if len(p.decidesBy.Pod)+len(p.decidesBy.Node) == 0 && !p.guest.AsksWhoPassed {
			return errNoField
		}
		p.metrics = answerMetricsOf(p.name)
		p.answers = answers.New(p.decidesBy, p.args.answersLimit(), p.metrics.size)
	}
	p.events, err = p.eventsOf(s.instance)
	return err
}

func (p *plugin) Name() string { return p.name }

// Close implements io.Closer. It ends calls and starts of instances that are under way, and waits
// for them. If one does not end, which cannot be interrupted, the guest is left as it is.
func (p *plugin) Close() error { return p.close() }

func (p *plugin) closeOnce() error {
	p.pool.closed.Store(true)
	p.host.forget(p)
	if p.answers != nil {
		p.answers.Close()
	}
	p.stop(errClosed)
	defer p.log.close()
	if !p.pool.end() {
		return fmt.Errorf("plugin %s: guest %s is left behind: a call has not returned", p.name, p.url)
	}
	return p.guest.Close(context.Background())
}
