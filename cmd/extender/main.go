// Command extender is a scheduler extender: kube-scheduler asks it over HTTP
// which nodes a pod may run on and how well. See docs/extender.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"wasmkwokwizardry.io/regex-scheduling/extender/command"
)

// version is set with -ldflags '-X main.version=…'.
var version = ""

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(command.Main(ctx, versionOr(), os.Args[1:], os.Stdout, os.Stderr))
}

// versionOr is the version that the build was given, or else the module's.
func versionOr() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
