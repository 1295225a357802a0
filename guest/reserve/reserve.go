// Package reserve exports reserve and unreserve: a node is chosen for a pod, and the
// choice is undone.
package reserve

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

const notSet = "reserve.Set was not called"

var (
	chosen  = func(guest.Pod, guest.Node) guest.Status { panic(notSet) }
	givenUp = func(guest.Pod, guest.Node) { panic(notSet) }
)

// Set sets both hooks. unreserve is also called after reserve failed, and may be called
// more than once.
func Set(reserve func(guest.Pod, guest.Node) guest.Status, unreserve func(guest.Pod, guest.Node)) {
	chosen, givenUp = reserve, unreserve
}

func init() {
	host.Register("reserve", func() uint64 { return uint64(reserve()) })
	host.Register("unreserve", func() uint64 { unreserve(); return 0 })
}

//go:wasmexport reserve

//export reserve
func reserve() uint32 { return report.Status(chosen(guest.CurrentPod(), guest.CurrentNode())) }

//go:wasmexport unreserve

//export unreserve
func unreserve() { givenUp(guest.CurrentPod(), guest.CurrentNode()) }
