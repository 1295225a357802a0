// Command guest is for people who write guests: it makes one, looks into it, runs it
// and measures it as the scheduler would, and keeps it in a registry. See
// docs/guests.md.
package main

import (
	"context"
	"os"
	"os/signal"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/command"
)

func main() {
	wasmhost.CompileInChild()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(command.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
