// Package namescore exports prescore and score for a guest that knows nodes by their names
// alone. It takes the place of packages prescore and score: the guest does not ask which
// nodes passed, so the host remembers what it answers to prescore, too.
package namescore

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var (
	before   = func() guest.Status { panic("namescore.Set was not called") }
	hook     func(nodeName string) int32
	nodeName = make(host.Buffer, 256) // a node's name has 253 bytes at most
)

// Set makes preScore and score the hooks. Both are about the pod that prefilter has seen
// last. If preScore answers Skip, score is not called. A score is from 0 to 100. The name
// is valid until score returns.
func Set(preScore func() guest.Status, score func(nodeName string) int32) {
	before, hook = preScore, score
}

func init() {
	host.Register("prescore", func() uint64 { return uint64(preScore()) })
	host.Register("score", func() uint64 { return score() })
}

//go:wasmexport prescore

//export prescore
func preScore() uint32 { return report.Status(before()) }

//go:wasmexport score

// The upper half of the result is the score.
//
//export score
func score() uint64 {
	name := nodeName.Fill(func(ptr, limit uint32) uint32 { return host.CurrentNodeName(ptr, limit) })
	return host.Pair(uint32(hook(host.View(name))), uint32(guest.Success))
}
