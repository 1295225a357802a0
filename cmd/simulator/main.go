// Command simulator runs a whole cluster in one process, with a web page, to see
// the regex scheduling plugin at work: etcd, kube-apiserver, fake kubelets and
// kube-scheduler.
package main

import (
	"context"
	"errors"
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

// run is main with everything it touches passed in. It ends when ctx does.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd := newSimulator()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "simulator:", err)
	var lost lostError
	switch {
	case ran.Name() != compareName:
		return 1
	case errors.As(err, &lost):
		return statusLost
	}
	return statusNone
}
