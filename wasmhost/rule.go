package wasmhost

import (
	"runtime"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// sharing is how the instances of a guest are shared among cycles. What counts is
// what a guest exports and imports: it cannot be asked. A hook whose whole body is a
// constant does not count, as those of the SDK that a guest does not implement.
type sharing int

const (
	// parallel guests have instances for all processors. A call may get any of
	// them; PreFilter, PreScore and the pods added or removed are repeated for one
	// that has not seen them. Nothing else that a guest keeps may matter.
	parallel sharing = iota
	// single guests have one instance, so that what one call leaves in its memory is
	// there for the next: scores may count what Filter has seen, and who acts twice
	// through the scheduler's handle has acted wrongly.
	single
	// perPod guests take part in permit or binding. As single, but after a pod's
	// Permit its instance stays with it until it is bound or given back.
	perPod
)

// sharingOf decides on a guest.
func sharingOf(guest *abi.Guest, args Args) sharing {
	active := guest.Active()
	switch {
	case active.Has(abi.Permit, abi.PreBind, abi.Bind, abi.PostBind):
		return perPod
	case active.Has(abi.Reserve, abi.Unreserve), guest.UsesHandle(), args.Instances == 1:
		return single
	case whyForgotten(guest) == "":
		return parallel // no call depends on what another has left behind
	case active.Has(abi.Filter) && active.Has(abi.PreScore, abi.Score, abi.NormalizeScore):
		return single
	}
	return parallel
}

// instances is how many there may be for scheduling cycles.
func (s sharing) instances() int {
	if s == parallel {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}
