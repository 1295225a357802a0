// Package observe is what tests see of a program that runs: its memory, its goroutines, and what it writes.
package observe

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// Log is an io.Writer for several goroutines. The zero value is empty.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer. It never fails.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is what was written since the start, or the last Take.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Take returns what String does, and forgets it.
func (l *Log) Take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// HeapInUse is how much memory is in use, in bytes, without what is not referred to.
func HeapInUse() int {
	runtime.GC()
	runtime.GC() // finalizers have run
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// Mark labels the goroutines that do starts, and all that these start, with a text that no
// other is labelled with.
func Mark(ctx context.Context, mark string, do func(context.Context)) {
	pprof.Do(ctx, pprof.Labels("mark", mark), do)
}

// Marked returns the stacks of the ones that run.
func Marked(t *testing.T, mark string) (stacks []string) {
	t.Helper()
	var all bytes.Buffer
	testkit.Must(t, pprof.Lookup("goroutine").WriteTo(&all, 1))
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, `"`+mark+`"`) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
