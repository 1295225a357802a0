// Package prefilter exports prefilter: the beginning of a pod's scheduling cycle.
package prefilter

import (
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var hook = func(guest.Pod) guest.Status { panic("prefilter.Set was not called") }

// Set makes f the hook. It is called once for each cycle, before Filter. After Skip,
// Filter is not called.
func Set(f func(guest.Pod) guest.Status) { hook = f }

// OnlyNodes limits the cycle to these nodes. Without names there is no limit. Call it
// from the hook.
func OnlyNodes(names ...string) {
	if len(names) > 0 {
		list := strings.Join(names, "\x00") + "\x00"
		host.Give(list, func(ptr, size uint32) { host.SetNodeNames(ptr, size) })
	}
}

func init() { host.Register("prefilter", func() uint64 { return uint64(prefilter()) }) }

//go:wasmexport prefilter

//export prefilter
func prefilter() uint32 { return report.Status(hook(guest.CurrentPod())) }
