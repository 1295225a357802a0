package abi

import (
	"fmt"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// What a guest may hand over. The host's memory is not bounded by the guest's: 200 MiB
// of short names were 6.7 GiB of Go's strings. A cluster of 15,000 nodes stays below
// each of these bounds. A list that is too long is an error, since a part of it would
// decide something else. A text for people is cut.
const (
	maxList          = 4 << 20   // bytes of nodes' names, or of scores: 15,000 times 279
	maxEntries       = 64 << 10  // names or scores in them
	maxClusterEvents = 1 << 10   // bytes: 128 events
	maxEvent         = 16 << 10  // bytes of an event's JSON
	maxEvents        = 100       // that are sent for one pod
	maxNote          = 1024      // bytes of a field of an event: the API server takes no longer note
	maxText          = 8 << 10   // bytes of a reason, a message, or the keys and values beside it
	maxReasons       = 512 << 10 // bytes of the reasons for one pod: its status must fit into 1.5 MiB
	maxReasonsCount  = 20_000
)

// maxName is the length of the longest name of an object, or of its UID, in bytes.
const maxName = 253

// handedOver is the error of a guest that handed over too much, or what cannot be read.
// A host function panics with it, and so the guest traps.
func handedOver(what, format string, args ...any) error {
	return fmt.Errorf(what+": "+format, args...)
}

// Account counts what a guest hands over for one pod, in all its instances and
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
	if a.size+len(given) > maxReasons || len(a.reasons) >= maxReasonsCount {
		return &outOfReasons
	}
	if a.reasons == nil {
		a.reasons = map[string]*reason{}
	}
	made := &reason{given: string(given)}
	made.shown = []string{printable.Line(made.given, maxText)}
	a.reasons[made.given] = made
	a.size += len(given)
	return made
}

// event counts an event, and panics if there are too many.
func (a *Account) event() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events++
	if a.events > maxEvents {
		panic(handedOver("handle.eventrecorder.eventf", "more than %d events for one pod", maxEvents))
	}
}

// reason is Account.reason, without a lock if it is the reason of the last call.
func (i *Instance) reason(given []byte) []string {
	given = given[:min(len(given), maxText+1)] // one byte more, so that Line cuts it visibly
	account := i.In.Account
	if i.last == nil || i.lastOf != account || i.last.given != string(given) {
		i.last, i.lastOf = account.reason(given), account
	}
	return i.last.shown
}
