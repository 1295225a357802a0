// Package guestserver is the command line of cmd/static-webserver: it serves the
// built guests to the schedulers of a cluster, plainly, and nothing else.
//
// Package webserver is its counterpart on one machine, inside the simulator.
package guestserver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/static"
)

// drain is how long the transfers in flight get after the stop.
const drain = 10 * time.Second

// Main serves until ctx is done and returns the exit status: 0 after a clean
// stop, 1 after a failure, 2 if the command line is at fault.
func Main(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("static-webserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	address := flags.String("listen", "127.0.0.1:8080", "address to serve on; without a host, every one of this machine")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "static-webserver: %q: takes flags only\n", flags.Arg(0))
		return 2
	}
	if err := listenAndServe(ctx, *address, stderr); err != nil {
		fmt.Fprintf(stderr, "static-webserver: %v\n", err)
		return 1
	}
	return 0
}

func listenAndServe(ctx context.Context, address string, log io.Writer) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "static-webserver: serving on http://%s/\n", l.Addr())
	server := &http.Server{
		Handler:           Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    8 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("transfers were cut after %s: %w", drain, err), server.Close())
	}
	return nil
}

// Handler answers GET and HEAD for the files of package static, and /healthz.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(static.Files))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}
