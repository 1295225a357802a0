// Command extender is a scheduler extender: kube-scheduler asks it over HTTP
// which nodes a pod may run on and how well. See docs/extender.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"wasmkwokwizardry.io/regex-scheduling/extender/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(command.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
