//go:build wasip1

package host

import "unsafe"

// The functions of the host. ptr, and limit or size, are an address and a number
// of bytes in the guest's memory. Those with a limit return the size that there is,
// and write nothing where it is more than limit.

//go:wasmimport k8s.io/scheduler get_config
func GetConfig(ptr, limit uint32) (size uint32)

// CurrentPod writes the pod of the cycle, a v1.Pod in protobuf.
//
//go:wasmimport k8s.io/scheduler currentPod
func CurrentPod(ptr, limit uint32) (size uint32)

// TargetPod writes the pod that PreFilter's extensions are about, in protobuf.
//
//go:wasmimport k8s.io/scheduler targetPod
func TargetPod(ptr, limit uint32) (size uint32)

//go:wasmimport k8s.io/scheduler currentNodeName
func CurrentNodeName(ptr, limit uint32) (size uint32)

// Node writes a node, a v1.Node in protobuf.
//
//go:wasmimport k8s.io/api node
func Node(name, nameSize, ptr, limit uint32) (size uint32)

// FilteredNodeList writes the nodes that passed, a JSON array of names.
//
//go:wasmimport k8s.io/scheduler filteredNodeList
func FilteredNodeList(ptr, limit uint32) (size uint32)

// NodeToStatusMap writes the codes by node, a JSON object.
//
//go:wasmimport k8s.io/scheduler nodeToStatusMap
func NodeToStatusMap(ptr, limit uint32) (size uint32)

// NodeScoreList writes the scores by node, a JSON object.
//
//go:wasmimport k8s.io/scheduler nodeScoreList
func NodeScoreList(ptr, limit uint32) (size uint32)

//go:wasmimport k8s.io/scheduler result.status_reason
func SetStatusReason(ptr, size uint32)

// SetClusterEvents takes pairs of little-endian uint32: Resource and ActionType.
//
//go:wasmimport k8s.io/scheduler result.cluster_events
func SetClusterEvents(ptr, size uint32)

// SetNodeNames takes names that are each ended by a zero byte.
//
//go:wasmimport k8s.io/scheduler result.node_names
func SetNodeNames(ptr, size uint32)

//go:wasmimport k8s.io/scheduler result.nominated_node_name
func SetNominatedNodeName(ptr, size uint32)

// SetNormalizedScoreList takes the scores by node, a JSON object.
//
//go:wasmimport k8s.io/scheduler result.normalized_score_list
func SetNormalizedScoreList(ptr, size uint32)

// RejectWaitingPod and AllowWaitingPod take a UID, and write a little-endian uint64: 1, or
// 0 if no such pod is waiting.
//
//go:wasmimport k8s.io/scheduler handle.reject_waiting_pod
func RejectWaitingPod(uid, size, ptr, limit uint32)

//go:wasmimport k8s.io/scheduler handle.allow_waiting_pod
func AllowWaitingPod(uid, size, ptr, limit uint32)

//go:wasmimport k8s.io/klog log
func Log(severity, ptr, size uint32)

// Address is where b is in the guest's memory. It does not keep b there: b must be
// a global's or in one.
func Address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// Register is for tests, outside of Wasm.
func Register(string, func() uint64) {}
