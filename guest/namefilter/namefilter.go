// Package namefilter exports filter for a guest that knows nodes by their names alone.
// It takes the place of package filter where that is too slow: nothing is allocated.
package namefilter

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/report"
)

var hook = func(string) *guest.Status { panic("namefilter.Set was not called") }

// Set makes f the hook. It says why the pod may not run on a node; nil is Success. It
// is asked about each node, so the statuses should be there before. The name is valid
// until it returns.
func Set(f func(nodeName string) *guest.Status) { hook = f }

func init() { host.Register("filter", func() uint64 { return uint64(filter()) }) }

var (
	nodeName [256]byte // a node's name has 253 bytes at most
	// reason is where the reason of decide is.
	reason struct{ address, size uint32 }
)

//go:wasmexport filter

// filter is the hot path. In TinyGo, a function that calls the host, or that might
// allocate or trap, keeps all its pointers in memory, for the garbage collector. So this
// function has numbers only.
//
//export filter
func filter() uint32 {
	size := fetchNodeName()
	if size > uint32(len(nodeName)) { // no node has so long a name
		return filterLong(size)
	}
	code := decide(size)
	if code != uint32(guest.Success) {
		host.SetStatusReason(reason.address, reason.size)
	}
	return code
}

// fetchNodeName has the host write the name of the node that is being filtered
// to nodeName, if it fits, and returns its size.
func fetchNodeName() (size uint32) {
	return host.CurrentNodeName(host.Address(nodeName[:]), uint32(len(nodeName)))
}

// decide asks about the node whose name was fetched. It must not be inlined: its
// pointers would become those of filter.
//
//go:noinline
func decide(size uint32) (code uint32) {
	status := hook(host.View(nodeName[:size]))
	if status == nil {
		return uint32(guest.Success)
	}
	reason.address, reason.size = host.Address(host.Bytes(status.Reason)), uint32(len(status.Reason))
	return uint32(status.Code)
}

//go:noinline
func filterLong(size uint32) uint32 {
	long := make([]byte, size)
	host.CurrentNodeName(host.Address(long), size)
	status := hook(host.View(long))
	if status != nil {
		return report.Status(*status)
	}
	return uint32(guest.Success)
}
