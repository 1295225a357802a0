// Package postbind exports postbind: it runs after a pod was bound to its node.
package postbind

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

var hook = func(guest.Pod, guest.Node) { panic("postbind.Set was not called") }

// Set makes f the hook.
func Set(f func(guest.Pod, guest.Node)) { hook = f }

func init() { host.Register("postbind", func() uint64 { postBind(); return 0 }) }

//go:wasmexport postbind

//export postbind
func postBind() { hook(guest.CurrentPod(), guest.CurrentNode()) }
