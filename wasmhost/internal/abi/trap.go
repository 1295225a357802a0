package abi

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/printable"
)

// Trap is the error of a call or a start that failed: the guest trapped, exited, or ran
// out of memory or of time.
type Trap struct {
	// Hook is the name of the export, or "instantiate" before any was called.
	Hook string
	// ExitCode is that of a guest that has ended by itself.
	ExitCode uint32
	text     string
}

// Error says on one line what happened, what the guest has printed, and where: it
// names the guest's functions, innermost first, as far as the name section does.
func (t *Trap) Error() string { return t.text }

const (
	maxTrap     = 1024 // bytes of a message
	shownFrames = 6    // functions in it
	// stackHeader is how wazero begins the stack in an error.
	stackHeader = "wasm stack trace:"
)

func (i *Instance) trap(hook string, err error) *Trap {
	cause, trace, _ := strings.Cut(err.Error(), stackHeader)
	stack := frames(trace)
	if last := len(stack) - 1; last >= 0 && strings.HasPrefix(stack[last], "$") {
		stack[last] = hook // the guest has no name section, but this one is known
	}
	text := strings.TrimSuffix(strings.TrimSpace(cause), " (recovered by wazero)")
	if len(i.printed.kept) > 0 {
		text = string(i.printed.kept) + "\n" + text
	}
	if len(stack) > 0 {
		text += " (in " + strings.Join(stack[:min(len(stack), shownFrames)], " < ") + ")"
	}
	trap := &Trap{Hook: hook, text: printable.Line(fmt.Sprintf("wasm: %s error: %s", hook, text), maxTrap)}
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
