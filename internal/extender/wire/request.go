package wire

import (
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
)

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

func (f Form) String() string {
	return [...]string{"neither nodes nor node names", "full nodes", "node names", "both nodes and node names"}[f]
}

// A Request is an ExtenderArgs that was read by Read. It shares memory with the
// body, and is good as long as that is.
type Request struct {
	algorithm.Args
	Form Form

	body     []byte
	envelope span // the NodeList
	items    span // its items, with brackets; empty if it has none
	// plain means that no name needs escaping or decoding.
	plain  bool
	memory *memory
}

// span is where something lies in the body.
type span struct{ start, end int }

func (r *Request) bytes(s span) []byte { return r.body[s.start:s.end:s.end] }
