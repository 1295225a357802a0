// Command not-gpu is a guest on the SDK of kube-scheduler-wasm-extension: no pod may
// run on a node whose name begins with "gpu-".
package main

import (
	"strings"
	"unsafe"

	"sigs.k8s.io/kube-scheduler-wasm-extension/guest/api"
	"sigs.k8s.io/kube-scheduler-wasm-extension/guest/api/proto"
	"sigs.k8s.io/kube-scheduler-wasm-extension/guest/filter"
)

// main is called because of -buildmode=wasi-legacy. As a library the guest would
// register nothing, and let every pod run anywhere.
func main() { filter.SetPlugin(notGPU{}) }

type notGPU struct{}

// Filter keeps pods away from the nodes with GPUs.
func (notGPU) Filter(_ api.CycleState, _ proto.Pod, node api.NodeInfo) *api.Status {
	if strings.HasPrefix(node.GetName(), "gpu-") {
		return &api.Status{Code: api.StatusCodeUnschedulable, Reason: "node(s) were for GPUs only"}
	}
	return nil // success
}

const fields = "node.metadata.name\x00"

// decidesBy has the guest see these fields alone: the host asks once for each name, which
// the SDK answers in some 13 µs, and remembers.
//
//lint:ignore U1000 the host calls it
//export decides_by
func decidesBy() uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.StringData(fields))))<<32 | uint64(len(fields))
}
