// Package decidesby exports decides_by: the fields on which a guest's answers depend.
package decidesby

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

var declared string

// Set declares all fields on which PreFilter, Filter and Score depend, and nothing else
// does: no time, no chance, no other pod or node. It is a promise. The host remembers
// the answers, and asks once for each combination of the fields' values.
func Set(fields ...guest.Field) {
	declared = ""
	for _, field := range fields {
		declared += string(field) + "\x00"
	}
}

func init() { host.Register("decides_by", func() uint64 { return decidesBy() }) }

//go:wasmexport decides_by

// The upper half of the result is the address of the list, the lower half its size.
//
//export decides_by
func decidesBy() uint64 {
	return host.Pair(host.Address(host.Bytes(declared)), uint32(len(declared)))
}
