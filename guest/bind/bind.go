// Package bind exports bind: it binds a pod to its node, or returns Skip to leave that to
// another plugin.
package bind

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var hook = func(guest.Pod, guest.Node) guest.Status { panic("bind.Set was not called") }

// Set makes f the hook.
func Set(f func(guest.Pod, guest.Node) guest.Status) { hook = f }

func init() { host.Register("bind", func() uint64 { return uint64(bind()) }) }

//go:wasmexport bind

//export bind
func bind() uint32 { return report.Status(hook(guest.CurrentPod(), guest.CurrentNode())) }
