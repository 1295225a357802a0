package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// bindingCycle are the hooks from Reserve on.
var bindingCycle = []abi.Hook{abi.Reserve, abi.Unreserve, abi.Permit, abi.PreBind, abi.Bind, abi.PostBind}

// bindingHooks are the hooks from Reserve on. A guest that exports any of them has all of
// them, so that the host knows when a pod's attempt is over; the ones that it does not export
// answer Success or Skip. Such a guest must be enabled under multiPoint: at single points
// it could miss PostBind, which gives the pod's instance back.
type bindingHooks struct {
	minor.PreFlight
	p *plugin
}

func newBindingHooks(p *plugin) bindingHooks {
	h := bindingHooks{p: p}
	h.Status = func() *fwk.Status { return h.skipUnless(abi.PreBind) }
	return h
}

// skipUnless is what the framework is answered at the points where a plugin says
// whether it takes part.
func (h bindingHooks) skipUnless(exported abi.Hook) *fwk.Status {
	if !h.p.guest.Exports.Has(exported) {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// ask asks a hook about a pod and its node.
func (h bindingHooks) ask(state fwk.CycleState, pod *v1.Pod, node string, hook abi.Hook) (abi.Verdict, *fwk.Status) {
	out, status := h.p.cycleFor(state, pod).ask(hook, abi.In{NodeName: node})
	return out.Verdict, status
}

func (h bindingHooks) Reserve(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	_, status := h.ask(state, pod, node, abi.Reserve)
	return status
}

// Permit implements fwk.PermitPlugin. It is the last call of the scheduling
// cycle. A pod for whose instance there is no room is tried again later.
func (h bindingHooks) Permit(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) (*fwk.Status, time.Duration) {
	held := h.p.pool.ownedMemory.Load()
	if held >= maxOwnedMemory {
		return fwk.AsStatus(fmt.Errorf("wasm: pods between permit and binding hold %d bytes in instances of the guest, and at most %d are taken: "+
			"the pod is tried again when some are bound", held, maxOwnedMemory)), 0
	}
	v, status := h.ask(state, pod, node, abi.Permit)
	h.bind(state, pod)
	return status, time.Duration(uint32(v.Number)) * time.Millisecond
}

func (h bindingHooks) PreBind(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	_, status := h.ask(state, pod, node, abi.PreBind)
	return status
}

func (h bindingHooks) Bind(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	skip := h.skipUnless(abi.Bind)
	if skip != nil {
		return skip
	}
	guest := h.p.guest
	if !guest.Active.Has(abi.Bind) && guest.Constants[abi.Bind].Code == int32(fwk.Success) {
		return fwk.AsStatus(errBindsNothing)
	}
	_, status := h.ask(state, pod, node, abi.Bind)
	return status
}

// errBindsNothing is about a guest as upstream's SDK makes them, of which bind is not implemented.
var errBindsNothing = errors.New("wasm: bind only answers Success, and so binds no pod: enable a plugin that binds, such as DefaultBinder, before this one, " +
	"or have bind return Skip")

// Unreserve implements fwk.ReservePlugin. It ends the pod's attempt.
func (h bindingHooks) Unreserve(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	h.end(state, pod, node, abi.Unreserve)
}

// PostBind implements fwk.PostBindPlugin. It ends the pod's attempt.
func (h bindingHooks) PostBind(_ context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	h.end(state, pod, node, abi.PostBind)
}

// bind ends the scheduling cycle of a pod, and makes an instance the pod's own.
func (h bindingHooks) bind(state fwk.CycleState, pod *v1.Pod) {
	c := h.p.cycleFor(state, pod)
	c.binding.Store(true)
	if h.p.sharing != perPod {
		return
	}
	pool := h.p.pool
	s := pool.acquire(pod.UID)
	defer pool.release(s)
	if err := c.prepare(s, c.history); err != nil {
		c.fail(err)
		return // the pod's next call returns it
	}
	pool.give(pod.UID, s)
}

// end makes the last call for a pod, which can fail nothing: run logs a trap.
func (h bindingHooks) end(state fwk.CycleState, pod *v1.Pod, node string, hook abi.Hook) {
	h.p.cycleFor(state, pod).binding.Store(true)
	_, _ = h.ask(state, pod, node, hook)
	h.p.pool.takeBack(pod.UID)
}
