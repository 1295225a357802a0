package simulator

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// How many warnings a person is shown in a while. The kubelets try again what
// fails, for each of a thousand nodes.
const (
	warningsShown = 5
	warningsWhile = time.Minute
)

// warnings writes lines for a person, few at a time.
type warnings struct {
	to  io.Writer
	now func() time.Time

	mu      sync.Mutex
	since   time.Time
	written int // since then, and those omitted
}

// say writes a line, unless there were too many of late. That some are omitted
// is said at once, and how many with the next one.
func (w *warnings) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to == nil {
		return
	}
	now := w.now()
	if now.Sub(w.since) >= warningsWhile {
		more := w.written - warningsShown
		if more > 0 {
			fmt.Fprintf(w.to, "warning: %d more warnings were omitted\n", more)
		}
		w.since, w.written = now, 0
	}
	w.written++
	if w.written <= warningsShown {
		text := fmt.Sprintf("warning: "+format, args...)
		fmt.Fprintln(w.to, strings.Join(strings.Fields(text), " ")) // one line
	}
	if w.written == warningsShown+1 {
		fmt.Fprintf(w.to, "warning: more warnings are omitted for up to %s\n", warningsWhile)
	}
}

// warningsOf takes what a part of the simulator warns of, and says it.
type warningsOf struct {
	part string
	*warnings
}

func (w warningsOf) Write(line []byte) (int, error) {
	w.say("%s: %s", w.part, line)
	return len(line), nil
}
