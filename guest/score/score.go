// Package score exports score: how well a node suits a pod.
package score

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var hook = func(guest.Pod, guest.Node) (int32, guest.Status) { panic("score.Set was not called") }

// Set makes f the hook. It is called for each node that passed. A score is from 0 to 100,
// unless package scoreextensions normalizes the scores.
func Set(f func(guest.Pod, guest.Node) (int32, guest.Status)) { hook = f }

func init() { host.Register("score", func() uint64 { return score() }) }

//go:wasmexport score

// The upper half of the result is the score.
//
//export score
func score() uint64 {
	s, status := hook(guest.CurrentPod(), guest.CurrentNode())
	return host.Pair(uint32(s), report.Status(status))
}
