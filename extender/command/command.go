// Package command is the command line of cmd/extender, around an
// extender.Extender.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/extender/logging"
)

// Main runs the extender until ctx is done and returns the exit status: 0 after
// a clean stop, 1 after a failure, 2 if the command line or the configuration is
// at fault.
func Main(ctx context.Context, version string, args []string, stdout, stderr io.Writer) int {
	set := pflag.NewFlagSet("extender", pflag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprint(stderr, "A scheduler extender with pluggable algorithms. See docs/extender.md.\n\nFlags, which win over the file:\n", set.FlagUsages())
	}
	flags := config.NewFlags(set)
	path := set.String("config", "", "configuration `file`")
	print := set.Bool("print-config", false, "print the configuration with everything filled in, and exit")
	showVersion := set.Bool("version", false, "print the version, and exit")
	err := set.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err == nil && set.NArg() > 0:
		err = fmt.Errorf("%q: takes flags only", set.Arg(0))
	case err == nil && *showVersion:
		fmt.Fprintln(stdout, version)
		return 0
	}
	var c *config.Config
	if err == nil {
		c, err = config.Load(*path, flags)
	}
	if err != nil {
		fmt.Fprintf(stderr, "extender: %v\n", err)
		return 2
	}
	if *print {
		text, err := c.YAML()
		if err == nil {
			_, err = stdout.Write(text)
		}
		if err != nil {
			fmt.Fprintf(stderr, "extender: %v\n", err)
			return 1
		}
		return 0
	}
	logger := logging.New(stderr, c.LogFormat, c.Loggers)
	if err := run(ctx, version, c, logger); err != nil {
		logger.Error(err, "The extender ends")
		return 1
	}
	return 0
}

// run serves where the configuration says.
func run(ctx context.Context, version string, c *config.Config, logger logr.Logger) error {
	e, err := extender.New(extender.Options{Config: c, Logger: logger, Version: version, OwnsProcess: true})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		e.Close()
		return fmt.Errorf("listen: %w", err)
	}
	return e.Serve(ctx, l)
}
