// Package decidesby exports decides_by: the fields on which a guest's answers depend.
package decidesby

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

var declared string

// Set declares all fields on which PreFilter, Filter and Score depend, and PreScore of a
// guest that does not ask which nodes passed. Nothing else may
// change their results: no clock, no random number, no other pod or node. The host
// remembers the results, and calls a hook once for each combination of the fields' values.
// A recheck that finds another result is a contract violation.
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
