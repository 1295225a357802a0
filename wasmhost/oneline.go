package wasmhost

import "wasmkwokwizardry.io/regex-scheduling/internal/printable"

// maxLine is how much of an error a person gets to see, in bytes.
const maxLine = 1024

// OneLine folds a text into one printable line: it joins lines by "; ", and cuts
// what is too long.
func OneLine(text string) string { return printable.Line(text, maxLine) }

// lineError shows an error on one line, whatever a guest has written into it, and
// keeps its cause.
type lineError struct{ cause error }

func (e lineError) Error() string { return OneLine(e.cause.Error()) }
func (e lineError) Unwrap() error { return e.cause }
