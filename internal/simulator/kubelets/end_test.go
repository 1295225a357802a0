package kubelets

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// What Start starts, and what that starts, has the labels of who called it.
func TestNothingIsLeftBehind(t *testing.T) {
	newNode(t, "kubecon-4")
	readyNode(t, "kubecon-4")
	for i := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		mark := fmt.Sprintf("%s-%d", t.Name(), i)
		pprof.Do(ctx, pprof.Labels("start", mark), func(ctx context.Context) {
			if err := Start(ctx, admin, nil); err != nil {
				t.Fatal(err)
			}
		})
		if running := labelled(t, mark); len(running) == 0 {
			t.Fatal("its goroutines are not found")
		}
		cancel()
		eventually.Succeeds(t, "all of it ends", func(context.Context) error {
			if left := labelled(t, mark); len(left) > 0 {
				return fmt.Errorf("left behind:\n%s", strings.Join(left, "\n"))
			}
			return nil
		})
	}
}

// labelled returns the stacks of the goroutines with a label.
func labelled(t *testing.T, mark string) (stacks []string) {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		t.Fatal(err)
	}
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, mark) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
