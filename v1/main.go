// Command v1 is the basic guest, written to be read: the guest SDK's hooks and
// one Filter. v2 shows what the same policy costs when it is written for speed.
package main

import (
	"sigs.k8s.io/kube-scheduler-wasm-extension/guest/api"
	"sigs.k8s.io/kube-scheduler-wasm-extension/guest/api/proto"
	"sigs.k8s.io/kube-scheduler-wasm-extension/guest/plugin"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func main() { plugin.Set(&regexScheduling{}) }

type regexScheduling struct {
	// selector is of the pattern that was met last.
	selector *regex.Selector
}

// Filter lets the pod run on a node whose name matches the pod's annotation.
func (r *regexScheduling) Filter(_ api.CycleState, pod proto.Pod, node api.NodeInfo) *api.Status {
	pattern, found := pod.GetAnnotations()[regex.Annotation]
	if !found {
		return nil // success
	}
	if r.selector == nil || r.selector.Pattern() != pattern {
		selector, err := regex.Default.Compile(pattern)
		if err != nil {
			return &api.Status{Code: api.StatusCodeError, Reason: err.Error()}
		}
		r.selector = selector
	}
	if !r.selector.Match(node.GetName()) {
		return &api.Status{Code: api.StatusCodeUnschedulable, Reason: r.selector.Mismatch()}
	}
	return nil
}
