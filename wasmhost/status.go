package wasmhost

import (
	"fmt"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

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

// judge makes a measured call and puts its answer in the framework's words. A
// hook that the guest has for show is not called, and not measured.
func (p *plugin) judge(state fwk.CycleState, hook abi.Hook, ask func() (answer, error)) (answer, *fwk.Status) {
	if !p.active.Has(hook) {
		return answer{value: p.guest.Constant(hook)}, p.constant(hook)
	}
	m := p.measure(state)
	a, err := ask()
	status := verdictOf(hook, a, err)
	m.done(hook, status)
	return a, status
}

// verdictOf is statusOf what ask returned, for hooks that return nothing but a code.
func verdictOf(hook abi.Hook, a answer, err error) *fwk.Status {
	if err != nil {
		return fwk.AsStatus(err)
	}
	return statusOf(hook, int32(a.value), a.out.Reasons)
}
