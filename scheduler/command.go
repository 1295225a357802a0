package scheduler

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"wasmkwokwizardry.io/regex-scheduling/internal/version"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// NewCommand is kube-scheduler, with all its flags, that checks the guests of
// its --config before it does anything else.
func NewCommand(host *wasmhost.Host) *cobra.Command {
	s := &setup{host: host}
	cmd := app.NewSchedulerCommand(s.register)
	cmd.Long = "kube-scheduler with the Wasm plugins that its configuration names, and the native plugin RegexScheduling."
	cmd.AddCommand(&cobra.Command{
		Use: "version", Short: "Print which build this is; --version prints what kube-scheduler would", Args: cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), version.String()) },
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		verflag.PrintAndExitIfRequested() // before a configuration is looked at
		if err := s.readFile(cmd.Context(), cmd.Flags().Lookup("config").Value.String()); err != nil {
			return err
		}
		return run(cmd, args)
	}
	return cmd
}

// Execute runs a command of [NewCommand]. The error is on one line.
func Execute(cmd *cobra.Command) error {
	err := cli.RunNoErrOutput(cmd)
	if err == nil {
		return nil
	}
	return errors.New(wasmhost.OneLine(err.Error()))
}

func (s *setup) readFile(ctx context.Context, path string) error {
	if path == "" {
		return nil
	}
	configuration, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	c, err := Read(configuration)
	if err == nil {
		err = s.read(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("config %s: %w", path, err)
	}
	return nil
}
