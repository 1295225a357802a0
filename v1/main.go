// Command v1 is the basic guest, an example to read: the guest SDK's hooks and one
// Filter. v2 has the same policy, and is written for speed.
package main

import (
	"strings"
	"unsafe"

	"sigs.k8s.io/kube-scheduler-wasm-extension/guest/api"
	"sigs.k8s.io/kube-scheduler-wasm-extension/guest/api/proto"
	"sigs.k8s.io/kube-scheduler-wasm-extension/guest/plugin"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func main() { plugin.Set(&regexScheduling{patterns: regex.NewCache(regex.Default, maxPatterns)}) }

// decidesBy declares that the results depend on these fields only.
//
//lint:ignore U1000 the host calls it
//export decides_by
func decidesBy() uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.StringData(fields))))<<32 | uint64(len(fields))
}

var fields = "pod.metadata.annotations['" + strings.Join(regex.Default.Keys(), "']\x00pod.metadata.annotations['") + "']\x00node.metadata.name\x00"

// maxPatterns bounds the compiled patterns that are kept, in bytes. There is no
// PreFilter that could compile them once for all nodes.
const maxPatterns = 256 << 10

type regexScheduling struct{ patterns *regex.Cache }

// Filter lets the pod run on the nodes whose names its annotations select. v2 alone scores
// what the pod prefers.
func (r *regexScheduling) Filter(_ api.CycleState, pod proto.Pod, node api.NodeInfo) *api.Status {
	rules, err := r.patterns.Compile(pod.GetAnnotations())
	if err != nil {
		return &api.Status{Code: api.StatusCodeError, Reason: err.Error()}
	}
	if !rules.Filters() {
		return nil // success, and the host need not send the node
	}
	verdict := rules.Judge(node.GetName())
	if verdict != regex.Qualifies {
		return &api.Status{Code: api.StatusCodeUnschedulable, Reason: rules.Reason(verdict)}
	}
	return nil
}
