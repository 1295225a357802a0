package wasmhost

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// decide is ask in the framework's words.
func (p *plugin) decide(c *cycle, hook abi.Hook, in abi.In, note func(*instance, *abi.Out)) (abi.Verdict, *fwk.Status) {
	return p.judge(c, hook, func() (abi.Verdict, error) { return p.ask(c, hook, in, note) })
}

// judge measures what a hook answers, and puts it in the framework's words. A hook
// that is a constant, or that the guest does not export, is not asked.
func (p *plugin) judge(c *cycle, hook abi.Hook, ask func() (abi.Verdict, error)) (abi.Verdict, *fwk.Status) {
	if !p.guest.Active.Has(hook) {
		v := p.guest.Constants[hook]
		return v, statusOf(hook, v)
	}
	var began time.Time
	if c.measured {
		began = time.Now()
	}
	v, err := ask()
	status := p.failed(hook, err)
	if err == nil {
		status = statusOf(hook, v)
	}
	if c.measured {
		callSeconds.WithLabelValues(p.name, hook.String(), status.Code().String()).Observe(time.Since(began).Seconds())
	}
	return v, status
}

// failed is the status of a call that has failed with an error, by the failure policy.
func (p *plugin) failed(hook abi.Hook, err error) *fwk.Status {
	if err == nil || p.args.FailurePolicy != FailurePolicyIgnore {
		return fwk.AsStatus(err)
	}
	switch hook {
	case abi.PreFilter, abi.PreScore, abi.Bind:
		return fwk.NewStatus(fwk.Skip)
	case abi.PostFilter:
		return fwk.NewStatus(fwk.Unschedulable)
	}
	return nil
}

// statusOf is a guest's verdict in the framework's words. Success is nil.
func statusOf(hook abi.Hook, v abi.Verdict) *fwk.Status {
	switch {
	case v.Code == 0 && len(v.Reasons) == 0:
		return nil
	case v.Code < 0 || v.Code > int32(fwk.Pending):
		return fwk.AsStatus(fmt.Errorf("wasm: %s returned the status code %d, which does not exist", hook, v.Code))
	case v.Reasons == nil:
		v.Reasons = noReason
	}
	return fwk.NewStatus(fwk.Code(v.Code), v.Reasons...)
}

var noReason = []string{""}

// ask calls a hook in a cycle. in has what the guest may ask beside the pod. note,
// which may be nil, takes what else than the verdict there is to know after the call.
// An error ends the guest's part in the cycle: all further calls return it.
func (p *plugin) ask(c *cycle, hook abi.Hook, in abi.In, note func(*instance, *abi.Out)) (abi.Verdict, error) {
	v, err := p.try(c, hook, in, note)
	if err != nil {
		p.leaveOut(c, err)
	}
	return v, err
}

// try is ask, but the cycle goes on after an error.
func (p *plugin) try(c *cycle, hook abi.Hook, in abi.In, note func(*instance, *abi.Out)) (abi.Verdict, error) {
	s, err := p.enter(c, hook)
	if err != nil {
		return abi.Verdict{}, err
	}
	defer p.pool.unlock(s)
	out, err := p.call(s, c, hook, in)
	if err != nil {
		return abi.Verdict{}, err
	}
	if note != nil {
		note(s.instance, out)
	}
	p.countMemory(s.instance)
	return out.Verdict, nil
}

// enter locks a slot for a call in a cycle, whose instance has seen what comes
// before that call.
func (p *plugin) enter(c *cycle, hook abi.Hook) (*slot, error) {
	s := p.slotOf(c)
	err := p.mayCall(c) // perhaps no more, while this call waited
	if err == nil {
		err = p.ready(s, c, hook)
	}
	if err != nil {
		p.pool.unlock(s)
		return nil, err
	}
	return s, nil
}

// cycleWithin is how many times as long as one call all calls of a scheduling cycle may
// take.
const cycleWithin = 10

// mayCall returns an error where a guest is not to be called any more in a cycle.
func (p *plugin) mayCall(c *cycle) error {
	if trapped := c.trapped.Load(); trapped != nil {
		return *trapped
	}
	if c.time.exceeds(cycleWithin) && !c.binding.Load() {
		return fmt.Errorf("wasm: all calls of one scheduling cycle took longer than ten times callTimeout, %s", p.args.callTimeout())
	}
	return nil
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

// ready brings the instance of a locked slot to where a cycle is. It repeats what
// the instance has not seen: PreFilter, the changes, and PreScore before scores.
func (p *plugin) ready(s *slot, c *cycle, hook abi.Hook) error {
	if err := p.provide(s); err != nil {
		return err
	}
	i := s.instance
	if hook == abi.PreFilter {
		i.seen = seen{pass: c.pass}
		return nil
	}
	if i.seen.pass != c.pass || len(i.seen.changes)+len(c.changes) > 0 {
		if err := p.catchUp(s, c); err != nil {
			return err
		}
	}
	nodes := c.scored.Load()
	if hook != abi.Score && hook != abi.NormalizeScore || i.seen.prescore || nodes == nil || !p.guest.Active.Has(abi.PreScore) {
		return nil
	}
	i.seen.prescore = true
	return p.repeat(s, c, abi.PreScore, abi.In{FilteredNodes: func() any { return namesOf(*nodes) }})
}

func (p *plugin) catchUp(s *slot, c *cycle) error {
	i := s.instance
	missing, ok := i.seen.missing(c)
	if !ok {
		i.seen, missing = seen{pass: c.pass}, c.changes
		if p.guest.Active.Has(abi.PreFilter) {
			if err := p.repeat(s, c, abi.PreFilter, abi.In{}); err != nil {
				return err
			}
		}
	}
	for _, change := range missing {
		if err := p.repeat(s, c, change.hook, abi.In{Target: change.target, NodeName: change.node}); err != nil {
			return err
		}
		i.seen.changes = append(i.seen.changes, change)
	}
	return nil
}

// repeat drops results, logs and events: they were taken where the call was made
// first.
func (p *plugin) repeat(s *slot, c *cycle, hook abi.Hook, in abi.In) error {
	i := s.instance
	i.Quiet = true
	defer func() { i.Quiet = false }()
	_, err := p.call(s, c, hook, in)
	return err
}

// call calls a hook of the instance in a locked slot.
func (p *plugin) call(s *slot, c *cycle, hook abi.Hook, in abi.In) (*abi.Out, error) {
	p.show(s.instance, c, in)
	before := p.watchdog.looks.Load()
	out, err := s.instance.Call(hook)
	c.time.add(before, p.watchdog.looks.Load())
	if err != nil {
		return nil, p.lose(s, c, hook, err)
	}
	return out, nil
}

// show makes a cycle the one that an instance is asked about.
func (p *plugin) show(i *instance, c *cycle, in abi.In) {
	in.Scheduler, in.Pod, in.Account = p.cycleView, c.pass, &c.account
	switch {
	case c.view != nil:
		in.Scheduler = c.view
	case c.binding.Load():
		in.Scheduler = p.bindingView
	}
	i.In = in
}

// trapped is the error of a call that was not interrupted: the guest itself failed.
type trapped struct{ error }

func (t trapped) Unwrap() error { return t.error }

// lose is for a call that failed. The slot is without an instance afterwards.
func (p *plugin) lose(s *slot, c *cycle, hook abi.Hook, err error) error {
	if !s.instance.Interrupted() {
		err = trapped{err}
	}
	p.drop(s)
	s.lost = true
	traps.WithLabelValues(p.name).Inc()
	klog.FromContext(p.ctx).Error(err, "Wasm guest trapped: another takes its place", "plugin", p.name, "guest", p.url,
		"pod", klog.KObj(c.pod), "export", hook.String())
	return err
}

// leaveOut notes that a pass has failed, and under FailurePolicyIgnore that it goes on
// without the guest. A pass for a queueing hint does not go on: it is no attempt.
func (p *plugin) leaveOut(c *cycle, err error) {
	if own := (trapped{}); errors.As(err, &own) {
		err = own.error // further calls did not trap
	}
	if !c.trapped.CompareAndSwap(nil, &err) || p.args.FailurePolicy != FailurePolicyIgnore || c.hint {
		return
	}
	skipped.WithLabelValues(p.name).Inc()
	klog.FromContext(p.ctx).Error(err, "Wasm guest failed: the pod is scheduled without it", "plugin", p.name, "guest", p.url, "pod", klog.KObj(c.pod))
}
