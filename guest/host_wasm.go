//go:build tinygo.wasm

package guest

import "unsafe"

// The functions of the host's module k8s.io/scheduler. ptr and limit (or size)
// are an address and a number of bytes in the guest's memory.

//go:wasmimport k8s.io/scheduler currentNodeName
func hostCurrentNodeName(ptr, limit uint32) (size uint32)

// The pod is v1.Pod in protobuf.
//
//go:wasmimport k8s.io/scheduler currentPod
func hostCurrentPod(ptr, limit uint32) (size uint32)

//go:wasmimport k8s.io/scheduler get_config
func hostGetConfig(ptr, limit uint32) (size uint32)

//go:wasmimport k8s.io/scheduler result.status_reason
func hostSetStatusReason(ptr, size uint32)

// An event is two little-endian uint32: Resource and ActionType.
//
//go:wasmimport k8s.io/scheduler result.cluster_events
func hostSetClusterEvents(ptr, size uint32)

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
