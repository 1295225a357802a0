package wasmhost

import (
	"runtime"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// rules say how many instances a guest may have at most, and why; and why the host remembers no answer of it, or "". What counts is
// what a guest exports and imports: it cannot be asked. A hook whose whole body is a
// constant does not count, as those of the SDK that a guest does not implement.
//
// Guests with many instances have one for each processor. A call may get any of
// them: PreFilter, PreScore and the pods added or removed are repeated for one
// that has not seen them, and nothing else that a guest keeps may matter. Of a guest with one instance, what one call leaves in its memory is
// there for the next: scores may count what Filter has seen, and a guest that acted twice
// through the scheduler's handle has acted wrongly.
//
// Remembered are the answers of a guest that declares what it decides by, and does nothing else; any other sees whole objects. What further
// hooks hand to a guest is not declared, and later answers could depend on it.
func rules(guest *abi.Guest, args Args) (instances int, whyInstances, notRemembered string) {
	active := guest.Active
	switch {
	case !guest.Declares:
		notRemembered = "the guest does not declare what it decides by"
	case active.Has(bindingCycle...):
		notRemembered = "the guest takes part in reserve, permit or binding"
	case active.Has(abi.AddPod, abi.RemovePod):
		notRemembered = "the guest keeps account of pods that are added and removed"
	case active.Has(abi.PostFilter, abi.NormalizeScore):
		notRemembered = "the guest compares nodes in postfilter or normalizescore"
	case active.Has(abi.PreScore) && guest.AsksWhoPassed:
		notRemembered = "the guest may ask in prescore which nodes passed"
	case guest.UsesHandle:
		notRemembered = "the guest acts on the scheduler through its handle"
	}
	switch {
	case active.Has(bindingCycle...):
		return 1, "it takes part in reserve, permit or binding", notRemembered
	case guest.UsesHandle:
		return 1, "it acts on the scheduler through its handle", notRemembered
	case args.Instances == 1:
		return 1, "its args say so", notRemembered
	case notRemembered == "":
		return runtime.GOMAXPROCS(0), "what it declares is all that it decides by", ""
	case active.Has(abi.Filter) && active.Has(abi.PreScore, abi.Score, abi.NormalizeScore):
		return 1, "it filters and scores, and its scores may count what Filter has seen", notRemembered
	}
	return runtime.GOMAXPROCS(0), "nothing that it exports or imports speaks against it", notRemembered
}
