// Package decidesby exports decides_by: the fields on which a guest's answers depend.
package decidesby

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

var declared string

// Set declares all fields on which PreFilter, Filter, PreScore and Score depend. The host shows
// the guest nothing else, remembers the results, and calls a hook once for each combination of
// the fields' values. So results must not depend on earlier calls. A guest with other hooks than
// these and Enqueue, or with package prescore, which asks which nodes passed, is shown all, and not remembered.
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
