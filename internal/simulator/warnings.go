package simulator

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// How many warnings a person is shown in a while. KWOK tries again what fails,
// for each of a thousand nodes.
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
	written int // since then, and those left out
}

// say writes a line, unless there were too many of late. That some are left out
// is said at once, and how many with the next one.
func (w *warnings) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to == nil {
		return
	}
	now := w.now()
	if now.Sub(w.since) >= warningsWhile {
		if more := w.written - warningsShown; more > 0 {
			fmt.Fprintf(w.to, "warning: %d more warnings were left out\n", more)
		}
		w.since, w.written = now, 0
	}
	w.written++
	if w.written <= warningsShown {
		fmt.Fprintln(w.to, "warning: "+oneLine(fmt.Sprintf(format, args...)))
	}
	if w.written == warningsShown+1 {
		fmt.Fprintf(w.to, "warning: more warnings are left out for up to %s\n", warningsWhile)
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// kwokWarnings takes the lines that KWOK logs, which are JSON, and says them.
type kwokWarnings struct{ *warnings }

func (w kwokWarnings) Write(line []byte) (int, error) {
	var fields map[string]any
	if json.Unmarshal(line, &fields) != nil {
		w.say("KWOK: %s", line)
	} else if !outrun.MatchString(fmt.Sprint(fields["err"])) {
		w.say("KWOK: %s", readable(fields))
	}
	return len(line), nil
}

// outrun is what the API server answers of an object that is gone, or another,
// since KWOK looked at it. There is nothing to be done about it, and a reset brings
// it about for every pod.
var outrun = regexp.MustCompile(`\b(pods|nodes|leases\.coordination\.k8s\.io) "[^"]*" not found$|Operation cannot be fulfilled on `)

// readable is a line of log/slog for people: what happened and why, then to what.
func readable(fields map[string]any) string {
	message := fmt.Sprint(fields["msg"])
	if err, ok := fields["err"]; ok {
		message += fmt.Sprint(": ", err)
	}
	var about []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains([]string{"time", "level", "source", "msg", "err"}, name) {
			about = append(about, fmt.Sprintf("%s %v", name, fields[name]))
		}
	}
	if len(about) > 0 {
		message += " (" + strings.Join(about, ", ") + ")"
	}
	return message
}
