// Package prebind exports prebind: it runs before a pod is bound to its node.
package prebind

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var hook = func(guest.Pod, guest.Node) guest.Status { panic("prebind.Set was not called") }

// Set makes f the hook.
func Set(f func(guest.Pod, guest.Node) guest.Status) { hook = f }

func init() { host.Register("prebind", func() uint64 { return uint64(prebind()) }) }

//go:wasmexport prebind

//export prebind
func prebind() uint32 { return report.Status(hook(guest.CurrentPod(), guest.CurrentNode())) }
