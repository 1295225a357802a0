// Command kubectl-regex is a plugin of kubectl: `kubectl regex` says which nodes a
// pod's regex matches, and what is wrong with it.
package main

import (
	"context"
	"os"
	"os/signal"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"wasmkwokwizardry.io/regex-scheduling/kubectl"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(kubectl.Run(ctx, os.Args[1:], streams))
}
