package observe

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"
)

// Mark labels the goroutines that do starts, and all that these start, with a text that no
// other is labelled with.
func Mark(ctx context.Context, mark string, do func(context.Context)) {
	pprof.Do(ctx, pprof.Labels("mark", mark), do)
}

// Marked returns the stacks of the ones that run.
func Marked(t *testing.T, mark string) (stacks []string) {
	t.Helper()
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		t.Fatal(err)
	}
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, `"`+mark+`"`) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
