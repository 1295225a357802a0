package kubescheduler

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version"
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// command is kube-scheduler's own command, put together anew from the parts that
// it exports: between setting up and running is where the checks of health go
// in (health.go), and app.NewSchedulerCommand does both in one step.
type command struct {
	setup
	opts    *options.Options
	healthy func() error
}

// NewCommand is kube-scheduler, with all its flags, that checks the guests of
// its --config before it does anything else.
func NewCommand(host *wasmhost.Host) *cobra.Command {
	return newCommand(host).cobra()
}

func newCommand(host *wasmhost.Host) *command {
	return &command{setup: setup{host: host}, opts: options.NewOptions(), healthy: host.Healthy}
}

func (c *command) cobra() *cobra.Command {
	cmd := &cobra.Command{
		Use:  "kube-scheduler",
		Long: "kube-scheduler with the Wasm plugins that its configuration names, and the native plugin RegexScheduling.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%q does not take any arguments, got %q", cmd.CommandPath(), args)
			}
			return nil
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return c.opts.ComponentGlobalsRegistry.Set() }, // feature gates
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	global := c.opts.Flags.FlagSet("global")
	verflag.AddFlags(global)
	globalflag.AddGlobalFlags(global, cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, set := range c.opts.Flags.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	width, _, _ := term.TerminalSize(cmd.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(cmd, *c.opts.Flags, width)
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

func (c *command) run(cmd *cobra.Command) error {
	if printVersion(cmd) {
		return nil
	}
	if err := c.readFile(cmd.Context()); err != nil {
		return err
	}
	gates := c.opts.ComponentGlobalsRegistry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(c.opts.Logs, gates); err != nil {
		return err
	}
	cliflag.PrintFlags(cmd.Flags())

	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	signalled := server.SetupSignalHandler()
	go func() {
		<-signalled
		cancel()
	}()
	cc, sched, err := app.Setup(ctx, c.opts, c.register)
	if err != nil {
		return err
	}
	checkHealth(cc, c.healthy)
	gates.(featuregate.MutableFeatureGate).AddMetrics()
	c.opts.ComponentGlobalsRegistry.AddMetrics()
	return app.Run(ctx, cc, sched)
}

// readFile reads the file that --config names, if any.
func (c *command) readFile(ctx context.Context) error {
	path := c.opts.ConfigFile
	if path == "" {
		return nil
	}
	configuration, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	if err := c.read(ctx, configuration); err != nil {
		return fmt.Errorf("config %s: %w", path, err)
	}
	return nil
}

// printVersion answers --version, as kube-scheduler would, but to the command's
// own output, and before a configuration is looked at.
func printVersion(cmd *cobra.Command) bool {
	switch cmd.Flags().Lookup("version").Value.String() {
	case "true":
		fmt.Fprintf(cmd.OutOrStdout(), "Kubernetes %s\n", version.Get())
	case "raw":
		fmt.Fprintf(cmd.OutOrStdout(), "%#v\n", version.Get())
	default:
		return false
	}
	return true
}
