package kubelets

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/observe"
)

// What Start starts, and what that starts, has the labels of who called it.
func TestNothingIsLeftBehind(t *testing.T) {
	newNode(t, "kubecon-4")
	readyNode(t, "kubecon-4")
	for i := range 4 {
		var stop func()
		mark := fmt.Sprintf("%s-%d", t.Name(), i)
		observe.Mark(t.Context(), mark, func(context.Context) {
			var err error
			if stop, err = startWith(admin, io.Discard); err != nil {
				t.Fatal(err)
			}
		})
		running := observe.Marked(t, mark)
		if len(running) == 0 {
			t.Fatal("its goroutines are not found")
		}
		stop()
		eventually.Succeeds(t, "all of it ends", func(context.Context) error {
			left := observe.Marked(t, mark)
			if len(left) > 0 {
				return fmt.Errorf("left behind:\n%s", strings.Join(left, "\n"))
			}
			return nil
		})
	}
}
