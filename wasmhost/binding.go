package wasmhost

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// bindingHooks are the hooks from Reserve on. A guest that takes part in any of
// them has all of them, so that it is known when its part is over; those that it
// does not export answer as a plugin that has nothing against it. A guest must be
// enabled under multiPoint for that: at single points it could miss the one that
// ends what another began, as PostBind gives the pod's instance back.
type bindingHooks struct {
	minor.PreFlight
	p *plugin
}

func newBindingHooks(p *plugin) bindingHooks {
	h := bindingHooks{p: p}
	h.Status = h.takesPart
	return h
}

func (h bindingHooks) ask(state fwk.CycleState, pod *v1.Pod, node string, hook abi.Hook) (answer, error) {
	return h.p.ask(h.p.cycleFor(state, pod), hook, abi.In{NodeName: node})
}

// decide is for hooks that return nothing but a code.
func (h bindingHooks) decide(state fwk.CycleState, pod *v1.Pod, node string, hook abi.Hook) *fwk.Status {
	m := h.p.measure(state)
	a, err := h.ask(state, pod, node, hook)
	status := verdictOf(hook, a, err)
	m.done(hook, status)
	return status
}

// Reserve implements fwk.ReservePlugin.
func (h bindingHooks) Reserve(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	return h.decide(state, pod, node, abi.Reserve)
}

// Unreserve implements fwk.ReservePlugin. It ends the pod's pass.
func (h bindingHooks) Unreserve(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	h.end(state, pod, node, abi.Unreserve)
}

// Permit implements fwk.PermitPlugin. It is the last call of the scheduling
// cycle.
func (h bindingHooks) Permit(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) (*fwk.Status, time.Duration) {
	m := h.p.measure(state)
	a, err := h.ask(state, pod, node, abi.Permit)
	// Here the code is in the upper half.
	status := verdictOf(abi.Permit, answer{a.value >> 32, a.out}, err)
	m.done(abi.Permit, status)
	h.keep(state, pod)
	return status, time.Duration(uint32(a.value)) * time.Millisecond
}

// keep ends the scheduling cycle of a pod, and makes an instance the pod's own.
func (h bindingHooks) keep(state fwk.CycleState, pod *v1.Pod) {
	c := h.p.cycleFor(state, pod)
	c.binding.Store(true)
	if h.p.sharing != perPod {
		return
	}
	s, err := h.p.enter(c, false)
	if err != nil {
		return // whatever is asked next for the pod says so
	}
	h.p.pool.bind(pod.UID, s)
	h.p.pool.unlock(s)
}

// takesPart is what PreBindPreFlight answers: whether PreBind has anything to do.
func (h bindingHooks) takesPart() *fwk.Status {
	if !h.p.guest.Exports().Has(abi.PreBind) {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// PreBind implements fwk.PreBindPlugin.
func (h bindingHooks) PreBind(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	h.keep(state, pod)
	return h.decide(state, pod, node, abi.PreBind)
}

// Bind implements fwk.BindPlugin.
func (h bindingHooks) Bind(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if !h.p.guest.Exports().Has(abi.Bind) {
		return fwk.NewStatus(fwk.Skip)
	}
	h.keep(state, pod)
	return h.decide(state, pod, node, abi.Bind)
}

// PostBind implements fwk.PostBindPlugin. It ends the pod's pass.
func (h bindingHooks) PostBind(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	h.end(state, pod, node, abi.PostBind)
}

// end makes the last call for a pod, which can fail nothing: a trap is logged
// where it is met.
func (h bindingHooks) end(state fwk.CycleState, pod *v1.Pod, node string, hook abi.Hook) {
	m := h.p.measure(state)
	h.p.cycleFor(state, pod).binding.Store(true)
	_, err := h.ask(state, pod, node, hook)
	m.done(hook, fwk.AsStatus(err))
	if h.p.sharing == perPod {
		h.p.release(pod)
	}
}

// release ends what a pod had for itself.
func (p *plugin) release(pod *v1.Pod) {
	if unneeded := p.pool.release(pod.UID); unneeded != nil {
		p.end(unneeded)
	}
}
