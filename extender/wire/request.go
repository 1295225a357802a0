// Package wire reads what kube-scheduler sends to an extender and writes what
// it wants back: the types of k8s.io/kube-scheduler/extender/v1 as JSON.
//
// It decodes only what algorithms ask for and passes nodes on byte for byte,
// fields that it has never heard of included. Like encoding/json at the other
// end it takes the names of members in any case; unlike it, it refuses a member
// that is given twice, since the two ends might not pick the same one. It knows
// nothing of HTTP, and asks for the memory that it takes.
package wire

import "wasmkwokwizardry.io/regex-scheduling/extender/algorithm"

// A Form is how a request names its candidate nodes.
type Form int

const (
	// Neither means that both lists are null: there is nothing to answer.
	Neither Form = iota
	// Full nodes, from a scheduler with nodeCacheCapable: false.
	Full
	// Names only, from a scheduler with nodeCacheCapable: true.
	Names
	// Both lists are there, which no scheduler sends.
	Both
)

// A Request is an ExtenderArgs that was read by Read. It is good as long as the
// body does not change.
type Request struct {
	algorithm.Args
	Form Form

	body  []byte
	list  span   // the NodeList
	items span   // its items, with brackets; empty if it has none
	nodes []span // each of them
}

// span is where something lies in the body.
type span struct{ start, end int }

func (r *Request) bytes(s span) []byte { return r.body[s.start:s.end] }
