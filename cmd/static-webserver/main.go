// Command static-webserver serves the built guests: http://…/regex_v2.wasm. It
// is what a cluster's scheduler fetches them from; see deploy/static-webserver.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"wasmkwokwizardry.io/regex-scheduling/internal/guestserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := guestserver.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
