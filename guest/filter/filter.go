// Package filter exports filter: whether a pod may run on a node.
package filter

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var hook = func(guest.Pod, guest.Node) guest.Status { panic("filter.Set was not called") }

// Set makes f the hook. It is called for each node, so prepare what it needs in PreFilter.
func Set(f func(guest.Pod, guest.Node) guest.Status) { hook = f }

func init() { host.Register("filter", func() uint64 { return uint64(filter()) }) }

//go:wasmexport filter

//export filter
func filter() uint32 { return report.Status(hook(guest.CurrentPod(), guest.CurrentNode())) }
