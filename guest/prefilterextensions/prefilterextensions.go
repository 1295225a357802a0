// Package prefilterextensions exports addpod and removepod: how another pod, added to a
// node or removed from it, changes the result for the pod of the cycle.
package prefilterextensions

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

// Hook takes the pod of the cycle, the node, and the pod that is added to it or removed.
type Hook func(pod guest.Pod, node guest.Node, target guest.Pod) guest.Status

var add, remove Hook = notSet, notSet

func notSet(guest.Pod, guest.Node, guest.Pod) guest.Status {
	panic("prefilterextensions.Set was not called")
}

// Set sets both hooks.
func Set(addPod, removePod Hook) { add, remove = addPod, removePod }

func init() {
	host.Register("addpod", func() uint64 { return uint64(addPod()) })
	host.Register("removepod", func() uint64 { return uint64(removePod()) })
}

//go:wasmexport addpod

//export addpod
func addPod() uint32 { return ask(add) }

//go:wasmexport removepod

//export removepod
func removePod() uint32 { return ask(remove) }

func ask(hook Hook) uint32 {
	return report.Status(hook(guest.CurrentPod(), guest.CurrentNode(), guest.TargetPod()))
}
