package wasmhost

import (
	"fmt"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// status is the answer to a hook in the framework's words. An error goes by the failure policy.
func (c *cycle) status(hook abi.Hook, v abi.Verdict, err error) *fwk.Status {
	switch {
	case err == nil:
		return statusOf(hook, v)
	case c.plugin.args.FailurePolicy != FailurePolicyIgnore:
		return fwk.AsStatus(err)
	case hook == abi.PreFilter || hook == abi.PreScore || hook == abi.Bind:
		return fwk.NewStatus(fwk.Skip)
	case hook == abi.PostFilter:
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
	case !mayReturn(hook, fwk.Code(v.Code)):
		return fwk.AsStatus(fmt.Errorf("wasm: %s returned the status code %d, %s, which is not for this hook", hook, v.Code, fwk.Code(v.Code)))
	case v.Reasons == nil:
		v.Reasons = noReason
	}
	return fwk.NewStatus(fwk.Code(v.Code), v.Reasons...)
}

// mayReturn reports whether the framework takes a code from a hook. It finds no error in one
// that it does not expect.
func mayReturn(hook abi.Hook, code fwk.Code) bool {
	switch code {
	case fwk.Wait:
		return hook == abi.Permit
	case fwk.Skip:
		return hook == abi.PreFilter || hook == abi.PreScore || hook == abi.Bind
	}
	return true
}

var noReason = []string{""}
