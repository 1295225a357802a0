// Package postfilter exports postfilter: what to do if no node passed.
package postfilter

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var (
	hook     = func(guest.Pod, map[string]guest.Code) (string, guest.Status) { panic("postfilter.Set was not called") }
	statuses = make(host.Buffer, 0)
)

// Set makes f the hook. It gets the code of each node, and may nominate a node for the
// pod.
func Set(f func(pod guest.Pod, codes map[string]guest.Code) (nominated string, status guest.Status)) {
	hook = f
}

func init() { host.Register("postfilter", func() uint64 { return postFilter() }) }

//go:wasmexport postfilter

// The upper half of the result is 1 if a node is nominated.
//
//export postfilter
func postFilter() uint64 {
	codes := map[string]guest.Code{}
	for name, code := range host.Numbers(statuses.Fill(func(ptr, limit uint32) uint32 { return host.NodeToStatusMap(ptr, limit) })) {
		codes[name] = guest.Code(code)
	}
	nominated, status := hook(guest.CurrentPod(), codes)
	if nominated == "" {
		return host.Pair(0, report.Status(status))
	}
	host.Give(nominated, func(ptr, size uint32) { host.SetNominatedNodeName(ptr, size) })
	return host.Pair(1, report.Status(status))
}
