// Package prescore exports prescore: after it is known which nodes passed.
package prescore

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var (
	hook   = func(guest.Pod, []string) guest.Status { panic("prescore.Set was not called") }
	passed = make(host.Buffer, 0)
)

// Set makes f the hook. It gets the names of the nodes that passed. After Skip, Score is
// not called.
func Set(f func(pod guest.Pod, nodes []string) guest.Status) { hook = f }

func init() { host.Register("prescore", func() uint64 { return uint64(preScore()) }) }

//go:wasmexport prescore

//export prescore
func preScore() uint32 {
	nodes := host.Names(passed.Fill(func(ptr, limit uint32) uint32 { return host.FilteredNodeList(ptr, limit) }))
	return report.Status(hook(guest.CurrentPod(), nodes))
}
