package scheduler

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	basecli "k8s.io/component-base/cli"
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/version"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// NewCommand is kube-scheduler, with all its flags, that checks the guests of
// its --config before it does anything else. The plugins are further ones, of [Registry].
func NewCommand(host *wasmhost.Host, plugins frameworkruntime.Registry) *cobra.Command {
	s := &setup{host: host, extra: plugins}
	cmd := app.NewSchedulerCommand(s.register)
	cmd.Long = "kube-scheduler with the Wasm plugins that its configuration names, and the native plugin RegexScheduling.\n\n" +
		"Examples:\n  scheduler --config scheduler.yaml\n  scheduler --config scheduler.yaml --write-config-to complete.yaml" // its help shows no other place
	cli.Complete(cmd)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		// Before a configuration is looked at.
		if cmd.Flags().Lookup("version").Value.String() == "true" {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version.String())
			return err
		}
		verflag.PrintAndExitIfRequested() // --version=raw
		path := cmd.Flags().Lookup("config").Value.String()
		c, err := s.readFile(cmd.Context(), path)
		if err != nil {
			return err
		}
		err = c.locate(run(cmd, args), s.rejected)
		if errors.As(err, new(Mistakes)) {
			return inFile(path, err)
		}
		return err
	}
	return cmd
}

// Execute runs a command of [NewCommand]. The error is on one line.
func Execute(cmd *cobra.Command) error {
	err := basecli.RunNoErrOutput(cmd)
	if err == nil {
		return nil
	}
	return oneLine{err}
}

type oneLine struct{ error }

func (e oneLine) Error() string { return wasmhost.OneLine(e.error.Error()) }
func (e oneLine) Unwrap() error { return e.error }

// readFile reads a configuration, which is empty without a file.
func (s *setup) readFile(ctx context.Context, path string) (*Configuration, error) {
	if path == "" {
		return &Configuration{}, nil
	}
	configuration, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	c, err := Read(configuration)
	if err == nil {
		err = s.read(ctx, c)
	}
	if err != nil {
		return nil, inFile(path, err)
	}
	return c, nil
}

func inFile(path string, err error) error { return fmt.Errorf("config %s: %w", path, err) }
