package abi

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/tetratelabs/wazero/sys"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// Trap is the error of a call or a start that failed: the guest trapped, exited, or ran
// out of memory or of time.
type Trap struct {
	// Hook is the name of the export, or "instantiate" before any was called.
	Hook string
	// ExitCode is the exit code of a guest that has ended by itself.
	ExitCode uint32
	// Cause is ErrTrap, or why the instance was interrupted.
	Cause error
	text  string
}

// Error says on one line what happened, what the guest has printed, and where: it
// names the guest's functions, innermost first, as far as the name section does.
func (t *Trap) Error() string { return t.text }
func (t *Trap) Unwrap() error { return t.Cause }

// ErrTimeout is in the error of a call that took too long, ErrTrap in that of one that was not interrupted.
var (
	ErrTrap    = errors.New("the guest trapped")
	ErrTimeout = errors.New("callTimeout")
)

const (
	maxTrap     = 1024 // bytes of a message
	shownFrames = 6    // functions in it
	// stackHeader is how wazero begins the stack in an error.
	stackHeader = "wasm stack trace:"
)

func (i *Instance) trap(hook string, err, cause error) *Trap {
	message, trace, _ := strings.Cut(err.Error(), stackHeader)
	stack := frames(trace)
	last := len(stack) - 1
	if last >= 0 && strings.HasPrefix(stack[last], "$") {
		stack[last] = hook // the guest has no name section, but this one is known
	}
	text := strings.TrimSuffix(strings.TrimSpace(message), " (recovered by wazero)")
	if len(i.printed.kept) > 0 {
		text = string(i.printed.kept) + "\n" + text
	}
	if len(stack) > 0 {
		text += " (in " + strings.Join(stack[:min(len(stack), shownFrames)], " < ") + ")"
	}
	trap := &Trap{Hook: hook, Cause: cause, text: printable.Line(fmt.Sprintf("wasm: %s error: %s", hook, text), maxTrap)}
	if exit := (*sys.ExitError)(nil); errors.As(err, &exit) {
		trap.ExitCode = exit.ExitCode()
	}
	return trap
}

// frame finds a function in a trace, without its module and signature. Lines of source
// code begin with two tabs.
var frame = regexp.MustCompile(`(?m)^\t\.?([^\t\n].*)\(`)

func frames(trace string) (functions []string) {
	guests, _, _ := strings.Cut(trace, "\n\n") // what follows is of the host
	for _, match := range frame.FindAllStringSubmatch(guests, -1) {
		functions = append(functions, match[1])
	}
	return functions
}

// printed keeps what a guest prints until the call is over.
type printed struct {
	kept        []byte
	interrupted *atomic.Bool // the guest is to end
}

// maxPrinted is how much of it is kept, in bytes: the end is lost.
const maxPrinted = 16 << 10

func (p *printed) Write(b []byte) (int, error) {
	if p.interrupted.Load() {
		return 0, errInterrupted // WASI's fd_write has as many pieces as the guest likes
	}
	p.kept = append(p.kept, bytes.ToValidUTF8(b[:min(len(b), maxPrinted-min(len(p.kept), maxPrinted))], nil)...)
	return len(b), nil
}
