package wasmhost

import (
	"strings"
	"unicode"
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
	var parts []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.Map(printable, line)); line != "" {
			parts = append(parts, line)
		}
	}
	folded := strings.Join(parts, "; ")
	if len(folded) > maxLine {
		folded = strings.ToValidUTF8(folded[:maxLine], "") + "…"
	}
	return folded
}

// printable drops what could steer a terminal.
func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsPrint(r):
		return r
	}
	return -1
}
