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

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// plugin is a guest as the framework sees it. What of it shows is decided by
// mask.
type plugin struct {
	name      string
	url       string // as it may be shown
	host      *Host
	guest     *compiled
	active    abi.Set
	sharing   sharing
	settings  abi.Settings
	ctx       context.Context // of the start, for the values in it
	key       fwk.StateKey
	scheduler abi.Scheduler // as scheduling cycles see it
	beside    abi.Scheduler // as binding cycles do, which run beside those
	events    []fwk.ClusterEventWithHint
	metrics   pluginMetrics

	decidesBy abi.DecidesBy // zero for a guest that does not say

	pool      *pool
	last      atomic.Pointer[begun]
	beginning sync.Mutex
	closed    atomic.Bool
	running   atomic.Int64 // instances
}

var errClosed = errors.New("the guest is closed")

func (h *Host) newPlugin(ctx context.Context, name string, args Args) (*plugin, error) {
	wasm, err := h.guest(ctx, args)
	if err != nil {
		return nil, err
	}
	guest, err := h.compile(ctx, wasm, args)
	if err != nil {
		return nil, err
	}
	p := &plugin{
		name: name, url: redact(args.GuestURL), host: h, guest: guest, active: guest.Active(),
		sharing: sharingOf(guest.Guest, args), ctx: context.WithoutCancel(ctx), key: fwk.StateKey("wasm/" + name),
		metrics: metricsOf(name), scheduler: &scheduler{}, beside: &scheduler{},
	}
	p.settings = abi.Settings{
		Config: args.GuestConfig, LogSeverity: args.LogSeverity, Log: logGuest, Timeout: time.Duration(args.CallTimeout),
	}
	p.pool = newPool(p.sharing.instances())
	if err := p.startFirst(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	h.watch.add(p)
	return p, nil
}

// startFirst makes the first instance, so that a guest that cannot start does
// not get as far as a pod.
func (p *plugin) startFirst() error {
	s := p.pool.lock()
	defer p.pool.unlock(s)
	if err := p.provide(s); err != nil {
		return fmt.Errorf("failed to create a guest pool: %w", err)
	}
	var err error
	if p.events, err = p.eventsOf(s.instance); err != nil {
		return err
	}
	p.decidesBy, err = s.instance.DecidesBy()
	return err
}

// Name implements fwk.Plugin.
func (p *plugin) Name() string { return p.name }

// Close implements io.Closer. It waits for calls that are under way; if one does
// not end, its guest is left as it is.
func (p *plugin) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	p.host.forget(p)
	p.host.watch.remove(p)
	deadline := time.Now().Add(closePatience)
	for p.running.Load() > 0 { // more than once, if an instance moved meanwhile
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

// closePatience is how long Close waits for calls.
const closePatience = 5 * time.Second

// provide sees to it that there is an instance in a locked slot.
func (p *plugin) provide(s *slot) error {
	if s.instance != nil {
		return nil
	}
	if p.closed.Load() {
		return errClosed
	}
	if s.instance = p.pool.takeSpare(); s.instance != nil {
		return nil
	}
	began := time.Now()
	started, err := p.guest.Start(p.ctx, p.settings)
	if err != nil {
		return lineError{err}
	}
	s.instance = &instance{Instance: started}
	p.running.Add(1)
	p.metrics.instances.Inc()
	p.countMemory(s.instance)
	if s.lost {
		s.lost = false
		p.metrics.replacements.Inc()
		klog.FromContext(p.ctx).Info("Replaced the Wasm guest", "plugin", p.name, "guest", p.url, "took", time.Since(began))
	}
	return nil
}

// enter locks a slot for a call in a cycle, whose instance has seen all of it.
// scoring is true of calls that come after PreScore.
func (p *plugin) enter(c *cycle, scoring bool) (*slot, error) {
	if t := c.trapped.Load(); t != nil {
		return nil, t.err
	}
	s := p.slotOf(c)
	if err := p.ready(s, c, scoring); err != nil {
		p.pool.unlock(s)
		return nil, err
	}
	return s, nil
}

// slotOf locks the slot of a pod that has one, or any.
func (p *plugin) slotOf(c *cycle) *slot {
	if p.sharing == perPod {
		if s := p.pool.boundTo(c.pod.UID); s != nil {
			return s
		}
	}
	return p.pool.lock()
}

// ready brings the instance of a locked slot to where a cycle is.
func (p *plugin) ready(s *slot, c *cycle, scoring bool) error {
	if err := p.provide(s); err != nil {
		return err
	}
	if i := s.instance; i.seen.pass != c.pass || len(i.seen.changes)+len(c.changes) > 0 {
		if err := p.catchUp(s, c); err != nil {
			return err
		}
	}
	if scoring && !s.instance.seen.prescore {
		return p.repeatPreScore(s, c)
	}
	return nil
}

// catchUp repeats for an instance what it has not seen of a cycle. Results, logs
// and events are dropped: they were taken where the calls were made first.
func (p *plugin) catchUp(s *slot, c *cycle) error {
	i := s.instance
	missing, ok := i.seen.missing(c)
	if !ok {
		p.show(i, c)
		missing = c.changes
		if p.active.Has(abi.PreFilter) {
			if err := p.repeat(s, c, abi.PreFilter); err != nil {
				return err
			}
		}
	}
	for _, change := range missing {
		i.In.Target, i.In.NodeName = change.target, change.node
		if err := p.repeat(s, c, change.hook); err != nil {
			return err
		}
		i.seen.changes = append(i.seen.changes, change)
	}
	return nil
}

// show makes a cycle the one that an instance is asked about.
func (p *plugin) show(i *instance, c *cycle) {
	i.seen = seen{pass: c.pass}
	p.blank(i, c)
}

// blank forgets what a guest could ask in the last call alone.
func (p *plugin) blank(i *instance, c *cycle) {
	i.In = abi.In{Scheduler: p.schedulerOf(c), Pod: &c.message}
}

func (p *plugin) schedulerOf(c *cycle) abi.Scheduler {
	if c.binding.Load() {
		return p.beside
	}
	return p.scheduler
}

func (p *plugin) repeatPreScore(s *slot, c *cycle) error {
	nodes := c.scored.Load()
	if nodes == nil || !p.active.Has(abi.PreScore) {
		return nil
	}
	i := s.instance
	i.In.NodeName, i.In.FilteredNodes = "", func() []string { return namesOf(*nodes) }
	if err := p.repeat(s, c, abi.PreScore); err != nil {
		return err
	}
	i.seen.prescore = true
	return nil
}

func (p *plugin) repeat(s *slot, c *cycle, hook abi.Hook) error {
	i := s.instance
	i.Quiet = true
	_, err := p.call(s, c, hook)
	i.Quiet = false
	p.blank(i, c)
	return err
}

// call calls a hook of the instance in a locked slot. If it traps, the slot is
// without an instance afterwards, and the pod's pass has failed.
func (p *plugin) call(s *slot, c *cycle, hook abi.Hook) (uint64, error) {
	value, err := s.instance.Call(hook)
	if err == nil {
		return value, nil
	}
	p.drop(s)
	s.lost = true
	p.metrics.traps.Inc()
	klog.FromContext(p.ctx).Error(err, "Wasm guest trapped: another takes its place", "plugin", p.name, "guest", p.url,
		"pod", klog.KObj(c.pod), "export", hook.String())
	t := &trapped{lineError{err}}
	c.trapped.Store(t)
	return 0, t.err
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
	p.running.Add(-1)
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

// answer is what a guest said in a call.
type answer struct {
	value uint64
	out   abi.Out
}

// ask makes a call in a cycle that is not Filter. in has what the guest may ask
// beside the pod.
func (p *plugin) ask(c *cycle, hook abi.Hook, in abi.In) (answer, error) {
	if !p.active.Has(hook) {
		return answer{value: p.guest.Constant(hook)}, nil
	}
	s, err := p.enter(c, hook == abi.Score || hook == abi.NormalizeScore)
	if err != nil {
		return answer{}, err
	}
	defer p.pool.unlock(s)
	return p.askIn(s, c, hook, in)
}

// askIn is ask in a locked slot whose instance is ready.
func (p *plugin) askIn(s *slot, c *cycle, hook abi.Hook, in abi.In) (answer, error) {
	i := s.instance
	in.Scheduler, in.Pod = p.schedulerOf(c), i.In.Pod
	i.In = in
	value, err := p.call(s, c, hook)
	if err != nil {
		return answer{}, err
	}
	p.blank(i, c)
	p.countMemory(i)
	return answer{value, *i.Out()}, nil
}

// statusOf is a guest's verdict in the framework's words. Success is nil.
func statusOf(hook abi.Hook, code int32, reasons []string) *fwk.Status {
	if code == 0 && len(reasons) == 0 {
		return nil
	}
	if code < 0 || code > int32(fwk.Pending) {
		return fwk.AsStatus(fmt.Errorf("wasm: %s returned the status code %d, which does not exist", hook, code))
	}
	if reasons == nil {
		reasons = noReason
	}
	return fwk.NewStatus(fwk.Code(code), reasons...)
}

var noReason = []string{""}

// constant is the verdict of a hook that the guest has for show, or not at all.
func (p *plugin) constant(hook abi.Hook) *fwk.Status {
	return statusOf(hook, int32(p.guest.Constant(hook)), nil)
}

// verdict is statusOf what ask returned, for hooks that return nothing but a code.
func verdict(hook abi.Hook, a answer, err error) *fwk.Status {
	if err != nil {
		return fwk.AsStatus(err)
	}
	return statusOf(hook, int32(a.value), a.out.Reasons)
}

// logGuest writes what a guest logs.
func logGuest(severity int32, msg string, kvs []string) {
	values := make([]any, len(kvs))
	for i, v := range kvs {
		values[i] = v
	}
	switch {
	case severity < abi.SeverityWarning && kvs == nil:
		klog.Info(msg)
	case severity < abi.SeverityWarning:
		klog.InfoS(msg, values...)
	case severity < abi.SeverityError:
		klog.Warning(append([]any{msg}, values...)...)
	case kvs == nil:
		klog.Error(msg) // of the severity fatal, too: no guest ends the scheduler
	default:
		klog.ErrorS(nil, msg, values...)
	}
}

func namesOf(nodes []fwk.NodeInfo) []string {
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Node().Name
	}
	return names
}
