package guestserver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/version"
)

// drain is how long the transfers in flight get after the stop.
const drain = 10 * time.Second

// Main is the command static-webserver. It serves until ctx is done and returns
// the exit status: 0 after a clean stop, 1 after a failure, 2 if the command line
// is at fault.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("static-webserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	address := flags.String("listen", "127.0.0.1:8080", "address to serve on; without a host, every one of this machine")
	showVersion := flags.Bool("version", false, "print which build this is, and exit")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "static-webserver: %q: takes flags only\n", flags.Arg(0))
		return 2
	}
	if *showVersion {
		fmt.Fprintln(stdout, version.String())
		return 0
	}
	if err := serve(ctx, *address, stderr); err != nil {
		fmt.Fprintf(stderr, "static-webserver: %v\n", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, address string, log io.Writer) error {
	server, ended, err := Start(address)
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Fprintf(log, "static-webserver: serving on http://%s/\n", server.Addr)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("transfers were cut after %s: %w", drain, err)
	}
	return nil
}
