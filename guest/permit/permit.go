// Package permit exports permit: the last word before a pod is bound.
package permit

import (
	"time"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var hook = func(guest.Pod, guest.Node) (guest.Status, time.Duration) { panic("permit.Set was not called") }

// Set makes f the hook. With Wait, it returns the longest wait, rounded down to milliseconds.
func Set(f func(guest.Pod, guest.Node) (status guest.Status, timeout time.Duration)) { hook = f }

// ended is where the host writes whether a wait has ended.
var ended [8]byte

// Allow ends the wait of a pod for this guest. Any hook may call it. The pod is bound
// unless another plugin holds it back. Allow returns false if no such pod is waiting. The
// upstream host has Reject only.
func Allow(uid string) bool {
	ended = [8]byte{}
	host.Give(uid, func(ptr, size uint32) { host.AllowWaitingPod(ptr, size, host.Address(ended[:]), 8) })
	return ended[0] == 1
}

// Reject ends the wait of a pod, which the scheduler tries again later. It returns false
// if no such pod is waiting.
func Reject(uid string) bool {
	ended = [8]byte{}
	host.Give(uid, func(ptr, size uint32) { host.RejectWaitingPod(ptr, size, host.Address(ended[:]), 8) })
	return ended[0] == 1
}

func init() { host.Register("permit", func() uint64 { return permit() }) }

//go:wasmexport permit

// The upper half of the result is the code here, the lower the time.
//
//export permit
func permit() uint64 {
	status, timeout := hook(guest.CurrentPod(), guest.CurrentNode())
	return host.Pair(report.Status(status), uint32(timeout.Milliseconds()))
}
