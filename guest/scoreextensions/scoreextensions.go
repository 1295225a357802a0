// Package scoreextensions exports normalizescore: it changes the scores of all nodes at
// once.
package scoreextensions

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var (
	hook = func(guest.Pod, map[string]int64) guest.Status { panic("scoreextensions.Set was not called") }
	list = make(host.Buffer, 0)
)

// Set makes f the hook. It gets the scores by the names of the nodes, and changes them in
// place to numbers from 0 to 100.
func Set(f func(pod guest.Pod, scores map[string]int64) guest.Status) { hook = f }

func init() { host.Register("normalizescore", func() uint64 { return uint64(normalizeScore()) }) }

//go:wasmexport normalizescore

//export normalizescore
func normalizeScore() uint32 {
	scores := host.Numbers(list.Fill(func(ptr, limit uint32) uint32 { return host.NodeScoreList(ptr, limit) }))
	status := hook(guest.CurrentPod(), scores)
	if status.Code == guest.Success {
		host.Give(host.Object(scores), func(ptr, size uint32) { host.SetNormalizedScoreList(ptr, size) })
	}
	return report.Status(status)
}
