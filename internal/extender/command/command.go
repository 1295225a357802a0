// Package command is the command line of cmd/extender: flags, signals and files
// that change, around an extender.Extender.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/spf13/pflag"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/logging"
)

// Main runs the extender until ctx is done and returns the exit status: 0 after
// a clean stop, 1 after a failure, 2 if the command line or the configuration is
// at fault. Each value from hangup makes it read its files again.
func Main(ctx context.Context, hangup <-chan os.Signal, version string, args []string, stdout, stderr io.Writer) int {
	set := pflag.NewFlagSet("extender", pflag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprint(stderr, "A scheduler extender with pluggable algorithms. See docs/extender.md.\n\nFlags, which win over the file:\n", set.FlagUsages())
	}
	p := &program{flags: config.NewFlags(set)}
	set.StringVar(&p.path, "config", "", "configuration file; read again when it changes and on SIGHUP")
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
		c, err = config.Load(p.path, p.flags)
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
	if err := p.run(ctx, hangup, version, c, stderr); err != nil {
		p.logger.Error(err, "The extender ends")
		return 1
	}
	return 0
}

// run serves where the configuration says.
func (p *program) run(ctx context.Context, hangup <-chan os.Signal, version string, c *config.Config, stderr io.Writer) error {
	var levels logging.Levels
	levels.Set(c.Loggers)
	root := logging.New(stderr, c.LogFormat, &levels)
	p.logger = root.WithName("config")
	var err error
	if p.extender, err = extender.New(extender.Options{Config: c, Logger: root, Levels: &levels, Version: version, OwnsProcess: true}); err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		p.extender.Close()
		return fmt.Errorf("listen: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	maintained := make(chan struct{})
	go func() {
		defer close(maintained)
		p.maintain(ctx, hangup)
	}()
	err = p.extender.Serve(ctx, l)
	cancel()
	<-maintained
	return err
}
