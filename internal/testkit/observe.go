package testkit

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
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

// EventuallyEnd waits until the goroutines with a mark have ended. The exceptions are idle connections, which net/http keeps for
// 90 s, and what receives signals.
func EventuallyEnd(t *testing.T, mark string) {
	t.Helper()
	Eventually(t, "all that was started ends", func(context.Context) error {
		left := slices.DeleteFunc(Marked(t, mark), func(stack string) bool {
			return strings.Contains(stack, ".readLoop+") || strings.Contains(stack, ".writeLoop+") || strings.Contains(stack, "os/signal.loop+")
		})
		if len(left) > 0 {
			return fmt.Errorf("left behind:\n%s", strings.Join(left, "\n"))
		}
		return nil
	})
}

// Marked returns the stacks of the ones that run.
func Marked(t *testing.T, mark string) (stacks []string) {
	t.Helper()
	var all bytes.Buffer
	Must(t, pprof.Lookup("goroutine").WriteTo(&all, 1))
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, `"`+mark+`"`) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
