// Package permit exports permit: the last word before a pod is bound.
package permit

import (
	"time"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

var hook func(guest.Pod, guest.Node) (guest.Status, time.Duration)

// Set makes f the hook. With Wait it says how long at most, in milliseconds' steps.
func Set(f func(guest.Pod, guest.Node) (status guest.Status, timeout time.Duration)) { hook = f }

func init() { host.Register("permit", func() uint64 { return permit() }) }

//go:wasmexport permit

// The upper half of the result is the code here, the lower the time.
//
//export permit
func permit() uint64 {
	status, timeout := hook(guest.CurrentPod(), guest.CurrentNode())
	return host.Pair(status.Report(), uint32(timeout.Milliseconds()))
}
