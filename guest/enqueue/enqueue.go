// Package enqueue exports enqueue: which events may help pods that the guest rejected.
package enqueue

import "wasmkwokwizardry.io/regex-scheduling/guest/internal/host"

// ClusterEvent is an event that wakes pods which the guest rejected.
type ClusterEvent struct {
	Resource   Resource
	ActionType ActionType
}

// Resource is the index of a kind in the host's table of resources.
type Resource uint32

const (
	Pod  Resource = 0
	Node Resource = 1
)

// ActionType holds bits of framework.ActionType as Kubernetes 1.32 numbers them.
type ActionType uint32

// An update of a pod has the bits of the fields that changed. It has UpdatePodOther
// only if no field changed that has a bit. So a guest that waits for an annotation must
// also list what can change together with it.
const (
	Add                                ActionType = 1 << 0
	Delete                             ActionType = 1 << 1
	UpdateNodeAllocatable              ActionType = 1 << 2
	UpdateNodeLabel                    ActionType = 1 << 3
	UpdateNodeTaint                    ActionType = 1 << 4
	UpdateNodeCondition                ActionType = 1 << 5
	UpdateNodeAnnotation               ActionType = 1 << 6
	UpdatePodLabel                     ActionType = 1 << 7
	UpdatePodScaleDown                 ActionType = 1 << 8
	UpdatePodTolerations               ActionType = 1 << 9
	UpdatePodSchedulingGatesEliminated ActionType = 1 << 10
	UpdatePodGeneratedResourceClaim    ActionType = 1 << 11
	UpdatePodOther                     ActionType = 1 << 12
)

var events []ClusterEvent

// Set lists all events that may make a rejected pod schedulable.
func Set(all ...ClusterEvent) { events = all }

func init() { host.Register("enqueue", func() uint64 { enqueue(); return 0 }) }

//go:wasmexport enqueue

//export enqueue
func enqueue() {
	if len(events) == 0 {
		return
	}
	var encoded []byte
	for _, event := range events {
		encoded = appendUint32(encoded, uint32(event.Resource))
		encoded = appendUint32(encoded, uint32(event.ActionType))
	}
	host.Give(host.View(encoded), func(ptr, size uint32) { host.SetClusterEvents(ptr, size) })
}

func appendUint32(b []byte, v uint32) []byte {
	return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}
