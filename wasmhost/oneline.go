package wasmhost

import (
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// maxLine is how much of a guest's complaint a person gets to see, in bytes.
const maxLine = 1024

// stackHeader is how wazero begins the stack of a trap. It is of no use on
// one line, and can be very long.
const stackHeader = "wasm stack trace:"

// lineError shows an error on one line, whatever a guest has written into it,
// and keeps its cause.
type lineError struct{ cause error }

func (e lineError) Error() string { return OneLine(e.cause.Error()) }
func (e lineError) Unwrap() error { return e.cause }

// OneLine folds a text into one printable line: lines are joined by "; ", the
// stack of a trap is left out, and what is too long is cut.
func OneLine(text string) string {
	text, _, _ = strings.Cut(text, stackHeader)
	return abi.Line(text, maxLine)
}
