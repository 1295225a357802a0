package compare

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestMain has the test binary be the process of a side, as package sides does for
// others.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != SideName {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cmd := NewSideCommand(nil)
	cmd.SetArgs(os.Args[2:])
	cmd.SetOut(os.Stdout)
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// resultOf is a side on which pods came out so.
func resultOf(pods map[types.NamespacedName]Outcome) *SideResult {
	r := &SideResult{}
	for name, o := range pods {
		r.Pods = append(r.Pods, &Pod{Namespace: name.Namespace, Name: name.Name, Outcome: o})
	}
	return r.index()
}
