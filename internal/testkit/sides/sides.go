// Package sides has a test binary be the process of a side of a comparison.
package sides

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
)

// Main is for the beginning of a TestMain. It does not return where a comparison has
// started the binary.
func Main() {
	if len(os.Args) < 2 || os.Args[1] != compare.SideName {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cmd := compare.NewSideCommand(nil)
	cmd.SetArgs(os.Args[2:])
	cmd.SetOut(os.Stdout)
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}
