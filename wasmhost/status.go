package wasmhost

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// decide asks a hook in the cycle of a state.
func (p *plugin) decide(state fwk.CycleState, pod *v1.Pod, hook abi.Hook, in abi.In, note func(*cycle, *seen)) (abi.Out, *fwk.Status) {
	return p.judge(state, hook, func() (abi.Out, error) {
		return p.ask(p.cycleFor(state, pod), hook, in, note)
	})
}

// judge measures what a hook answers, and puts it in the framework's words. A hook
// that is a constant, or that the guest does not export, is not asked.
func (p *plugin) judge(state fwk.CycleState, hook abi.Hook, ask func() (abi.Out, error)) (abi.Out, *fwk.Status) {
	if !p.active.Has(hook) {
		return p.guest.Constant(hook), p.constant(hook)
	}
	m := p.measure(state)
	out, err := ask()
	status := p.failed(hook, err)
	if err == nil {
		status = statusOf(hook, out.Code, out.Reasons)
	}
	m.done(hook, status)
	return out, status
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

// constant is the verdict of a hook that is a constant, or is not exported.
func (p *plugin) constant(hook abi.Hook) *fwk.Status {
	return statusOf(hook, p.guest.Constant(hook).Code, nil)
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
