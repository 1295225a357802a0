package abi

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"
)

// Trap is what became of a call or a start that did not end as it should: the
// guest trapped, or exited, or was out of memory or of time.
type Trap struct {
	// Hook is the name of the export, or "instantiate" before any was called.
	Hook string
	// Printed is what the guest wrote to its standard output and error.
	Printed string
	// Stack are the names of the guest's functions, innermost first.
	Stack []string
	// ExitCode is that of a guest that has ended by itself.
	ExitCode uint32
	cause    string
}

// shownFrames is how many functions a message names.
const shownFrames = 6

// Error names the functions, as far as the guest's name section does.
func (t *Trap) Error() string {
	text := t.cause
	if t.Printed != "" {
		text = t.Printed + "\n" + text
	}
	if len(t.Stack) > 0 {
		text += " (in " + strings.Join(t.Stack[:min(len(t.Stack), shownFrames)], " < ") + ")"
	}
	return fmt.Sprintf("wasm: %s error: %s", t.Hook, text)
}

// stackHeader is how wazero begins the stack in an error.
const stackHeader = "wasm stack trace:"

func (i *Instance) trap(hook string, err error) *Trap {
	cause, trace, _ := strings.Cut(err.Error(), stackHeader)
	stack := frames(trace)
	if last := len(stack) - 1; last >= 0 && strings.HasPrefix(stack[last], "$") {
		stack[last] = hook // the guest has no name section, but this one is known
	}
	cause = strings.TrimSuffix(strings.TrimSpace(cause), " (recovered by wazero)")
	trap := &Trap{Hook: hook, Printed: string(i.printed.kept), Stack: stack, cause: cause}
	if exit := (*sys.ExitError)(nil); errors.As(err, &exit) {
		trap.ExitCode = exit.ExitCode()
	}
	return trap
}

// frames are the functions of a trace, without their module and signature.
func frames(trace string) (functions []string) {
	for line := range strings.Lines(trace) {
		if !strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "\t\t") {
			if len(functions) > 0 && !strings.HasPrefix(line, "\t") {
				break // what follows is of the host
			}
			continue // a line of source code
		}
		name := strings.TrimSpace(line)
		if open := strings.LastIndexByte(name, '('); open > 0 {
			name = name[:open]
		}
		functions = append(functions, strings.TrimPrefix(name, "."))
	}
	return functions
}

// printed keeps what a guest prints until the call is over.
type printed struct{ kept []byte }

// maxPrinted is how much of it is kept, in bytes: the end is lost.
const maxPrinted = 16 << 10

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.kept = append(p.kept, bytes.ToValidUTF8(b[:min(len(b), maxPrinted-min(len(p.kept), maxPrinted))], nil)...)
	return len(b), nil
}

func (p *printed) reset() { p.kept = nil }
