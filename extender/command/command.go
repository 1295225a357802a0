// Package command is the command line of cmd/extender.
package command

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/version"
)

// Main runs the extender until ctx is done and returns the exit status: 0 after a clean
// stop, 1 after a failure, 2 for a mistake in the command line or the configuration.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd := &cobra.Command{
		Use:   "extender",
		Short: "A scheduler extender with pluggable algorithms",
		Long:  "A scheduler extender with pluggable algorithms. Flags take precedence over the file of --config. See docs/extender.md.",
		Example: `  extender --filter regex
  extender --config extender.yaml --print-config`,
	}
	status := 0
	flags := extender.Flags()
	cmd.RunE = func(*cobra.Command, []string) error {
		file, _ := flags.GetString("config")
		c, err := extender.LoadConfig(file, args...)
		if err != nil {
			return err
		}
		onlyPrint, _ := flags.GetBool("print-config")
		if onlyPrint {
			text, err := c.YAML()
			if err == nil {
				_, err = stdout.Write(text)
			}
			return err
		}
		logger := extender.NewLogger(stderr, c.LogFormat, c.Verbosity)
		if err := run(ctx, extender.Options{Config: c, Logger: logger, Version: version.Tag()}); err != nil {
			logger.Error(err, "The extender ends")
			status = 1
		}
		return nil
	}
	cmd.Flags().AddFlagSet(flags)
	cli.Complete(cmd)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err := cmd.Execute(); err != nil {
		printable.Error(stderr, "extender", err)
		return cli.StatusUsage
	}
	return status
}

// unaccounted is the memory besides limits.buffers up to which the runtime collects garbage
// as usual: connections, compiled patterns, garbage.
const unaccounted = 64 << 20

// gcPercent is for a small heap, which each request fills: with Go's 100, a fifth of the CPU time goes into
// collecting garbage.
const gcPercent = 400

// run serves at the address in the configuration, with the runtime set for its memory.
func run(ctx context.Context, o extender.Options) error {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(o.Config.Limits.Buffers.Value() + unaccounted)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	e, err := extender.New(o)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.Config.Listen)
	if err != nil {
		e.Close()
		return fmt.Errorf("listen: %w", err)
	}
	return e.Serve(ctx, l)
}
