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
)

// sharingOf decides on a guest, and says why.
func sharingOf(guest *abi.Guest, args Args) (is sharing, why string) {
	active := guest.Active
	switch {
	case active.Has(bindingCycle...):
		return single, "it takes part in reserve, permit or binding"
	case guest.UsesHandle:
		return single, "it acts on the scheduler through its handle"
	case args.Instances == 1:
		return single, "its args say so"
	case whyForgotten(guest) == "":
		return parallel, "what it declares is all that it decides by"
	case active.Has(abi.Filter) && active.Has(abi.PreScore, abi.Score, abi.NormalizeScore):
		return single, "it filters and scores, and its scores may count what Filter has seen"
	}
	return parallel, "nothing that it exports or imports speaks against it"
}

// instances is how many there may be.
func (s sharing) instances() int {
	if s == parallel {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

// whyForgotten says why the host remembers no answer of a guest, which then sees whole objects.
// It is empty for a guest that declares what it decides by, and does nothing else. What other
// hooks hand to a guest is not declared, and later answers could depend on it.
func whyForgotten(guest *abi.Guest) string {
	switch active := guest.Active; {
	case !guest.Declares:
		return "the guest does not declare what it decides by"
	case active.Has(bindingCycle...):
		return "the guest takes part in reserve, permit or binding"
	case active.Has(abi.AddPod, abi.RemovePod):
		return "the guest keeps account of pods that are added and removed"
	case active.Has(abi.PostFilter, abi.NormalizeScore):
		return "the guest compares nodes in postfilter or normalizescore"
	case active.Has(abi.PreScore) && guest.AsksWhoPassed:
		return "the guest may ask in prescore which nodes passed"
	case guest.UsesHandle:
		return "the guest acts on the scheduler through its handle"
	}
	return ""
}
