// Package report gives what a hook returns to the host.
package report

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

// Status gives the reason to the host and returns the code: Wasm functions return numbers
// only.
func Status(s guest.Status) (code uint32) {
	if s.Reason != "" {
		host.Give(s.Reason, func(ptr, size uint32) { host.SetStatusReason(ptr, size) })
	}
	return uint32(s.Code)
}
