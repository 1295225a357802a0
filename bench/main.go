// Command bench runs every door into the scheduler on the same work, and says
// whether the project's targets are met. `make bench` runs it; see
// docs/performance.md for what came of it last.
//
// The packages below it: work (nodes, pods, patterns), door (the ways in), cycle,
// whole and start (the three measurements), sample (numbers), report and plot.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with everything it touches passed in. A missed target is no
// error: the table says so.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	if err := o.bench(ctx, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}
