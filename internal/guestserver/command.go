package guestserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// drain is how long the transfers in flight get after the stop.
const drain = 10 * time.Second

// Main is the command static-webserver. It serves until ctx is done and returns
// the exit status: 0 after a clean stop, 1 after a failure, 2 if the command line
// is at fault.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var address string
	cmd := &cobra.Command{
		Use:     "static-webserver",
		Short:   "Serve the built guests over HTTP, such as /regex_v2.wasm, for guestURL",
		Example: "  static-webserver --listen :8080",
		RunE:    func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), address, stderr) },
	}
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:8080", "address to serve on; without a host, every one of this machine")
	cli.Complete(cmd)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	printable.Error(stderr, "static-webserver", err)
	if errors.As(err, new(cli.UsageError)) {
		return cli.StatusUsage
	}
	return 1
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
