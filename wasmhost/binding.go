package wasmhost

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// bindingCycle are the hooks from Reserve on.
var bindingCycle = []abi.Hook{abi.Reserve, abi.Unreserve, abi.Permit, abi.PreBind, abi.Bind, abi.PostBind}

// bindingHooks are the hooks from Reserve on. A guest that exports any of them has all of
// them; the ones that it does not export answer Success or Skip.
type bindingHooks struct {
	minor.PreFlight
	p *plugin
}

func newBindingHooks(p *plugin) bindingHooks {
	h := bindingHooks{p: p}
	h.Status = func(state fwk.CycleState, pod *v1.Pod) *fwk.Status { return h.skipUnless(abi.PreBind, state, pod) }
	return h
}

// skipUnless is what the framework is answered at the points where a plugin says
// whether it takes part.
func (h bindingHooks) skipUnless(exported abi.Hook, state fwk.CycleState, pod *v1.Pod) *fwk.Status {
	if !h.p.cycleFor(state, pod).guest.compiled.Exports.Has(exported) {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// bind asks about a pod and its node. The hooks after Permit run beside the scheduling cycle
// of another pod.
func (h bindingHooks) bind(state fwk.CycleState, pod *v1.Pod, node string, hook abi.Hook) (number int32, status *fwk.Status) {
	c := h.p.cycleFor(state, pod)
	if hook != abi.Reserve && hook != abi.Permit {
		c.binding.Store(true)
	}
	q := &question{hook: hook, in: abi.In{NodeName: node}, after: c.history}
	status = c.ask(q)
	return q.out.Number, status
}

func (h bindingHooks) Reserve(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	_, status := h.bind(state, pod, node, abi.Reserve)
	return status
}

// Permit implements fwk.PermitPlugin.
func (h bindingHooks) Permit(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) (*fwk.Status, time.Duration) {
	milliseconds, status := h.bind(state, pod, node, abi.Permit)
	return status, time.Duration(uint32(milliseconds)) * time.Millisecond
}

func (h bindingHooks) PreBind(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	_, status := h.bind(state, pod, node, abi.PreBind)
	return status
}

func (h bindingHooks) Bind(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	skip := h.skipUnless(abi.Bind, state, pod)
	if skip != nil {
		return skip
	}
	compiled := h.p.cycleFor(state, pod).guest.compiled
	if !compiled.Active.Has(abi.Bind) && compiled.Constants[abi.Bind].Code == int32(fwk.Success) {
		return fwk.AsStatus(errBindsNothing)
	}
	_, status := h.bind(state, pod, node, abi.Bind)
	return status
}

// errBindsNothing is about a guest as upstream's SDK makes them, of which bind is not implemented.
var errBindsNothing = errors.New("wasm: bind only answers Success, and so binds no pod: enable a plugin that binds, such as DefaultBinder, before this one, " +
	"or have bind return Skip")

// Unreserve implements fwk.ReservePlugin. It can fail nothing: a trap is logged.
func (h bindingHooks) Unreserve(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	_, _ = h.bind(state, pod, node, abi.Unreserve)
}

// PostBind implements fwk.PostBindPlugin. As Unreserve, it can fail nothing.
func (h bindingHooks) PostBind(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	_, _ = h.bind(state, pod, node, abi.PostBind)
}
