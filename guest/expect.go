package guest

import (
	"unsafe"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// expected is what filter answers without asking the plugin, all in numbers.
var expected struct {
	ticket                   regex.Ticket
	code, reason, reasonSize uint32
}

// Expect says what Filter would say in the rest of the cycle: Success for a name
// that the selector matches, and mismatch for another one. Then Filter is asked
// only about the names that the selector cannot decide at once. The plugin must
// keep mismatch until the next PreFilter.
//
// It is there because TinyGo makes a function keep its pointers in memory, for
// the collector, if it calls the host or might allocate. That would take as
// long as a match does.
func Expect(selector *regex.Selector, mismatch Status) {
	reason := unsafe.Slice(unsafe.StringData(mismatch.Reason), len(mismatch.Reason))
	expected.ticket, expected.code = selector.Ticket(), uint32(mismatch.Code)
	expected.reason, expected.reasonSize = address(reason), uint32(len(reason))
}

// forget ends what was expected.
func forget() { expected.ticket = 0 }
