package abi

import (
	"fmt"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// handedOver is the error of a guest that handed over too much, or what cannot be read.
// A host function panics with it, and so the guest traps.
func handedOver(what, format string, args ...any) error {
	return fmt.Errorf(what+": "+format, args...)
}

// Account counts what a guest hands over in one attempt to schedule a pod, in all its instances and
// calls. The zero value is ready to use.
type Account struct {
	mu      sync.Mutex
	reasons map[string]*reason // by the guest's own bytes
	size    int                // of these, in bytes
	events  int
}

// reason is what a guest gave, and what is made of it.
type reason struct {
	given string
	shown []string // one
}

// OutOfReasons stands in place of reasons for which there is no room.
const OutOfReasons = "node(s) for which there is no room in the pod's status: the guest gives too many different reasons"

var outOfReasons = reason{shown: []string{OutOfReasons}}

// reason makes each reason once: a guest gives most of them for many nodes.
func (a *Account) reason(given []byte) *reason {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.reasons[string(given)]
	if known != nil {
		return known
	}
	if a.size+len(given) > abi.MaxReasons || len(a.reasons) >= abi.MaxReasonsCount {
		return &outOfReasons
	}
	if a.reasons == nil {
		a.reasons = map[string]*reason{}
	}
	made := &reason{given: string(given)}
	made.shown = []string{printable.Line(made.given, abi.MaxText)}
	a.reasons[made.given] = made
	a.size += len(given)
	return made
}

// event counts an event, and panics if there are too many.
func (a *Account) event() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events++
	if a.events > abi.MaxEvents {
		panic(handedOver(abi.ImportEventf, "more than %d events in one attempt", abi.MaxEvents))
	}
}

// reason is Account.reason, without a lock if it is the reason of the last call.
func (i *Instance) reason(given []byte) []string {
	given = given[:min(len(given), abi.MaxText+1)] // one byte more, so that Line cuts it visibly
	account := i.In.Account
	if i.last == nil || i.lastOf != account || i.last.given != string(given) {
		i.last, i.lastOf = account.reason(given), account
	}
	return i.last.shown
}
