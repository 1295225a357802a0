// Package command is the command line of cmd/simulator. [Main] is for simulators with
// plugins of their own, too; nothing else of it is an API.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	kubescheduler "wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/snapshot/capture"
	"wasmkwokwizardry.io/regex-scheduling/whatif/side"
)

// Main is all that main of a simulator does. The options add plugins to those that it
// has, as options of kube-scheduler's own command do:
//
//	command.Main(app.WithPlugin(mine.Name, mine.New))
//
// They can be in every configuration that it runs, on both sides of a comparison, too.
// It does not return.
func Main(options ...app.Option) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, options...))
}

// run is Main with everything it touches passed in. It ends when ctx does.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, options ...app.Option) int {
	plugins, err := kubescheduler.Registry(options...)
	if err != nil {
		fmt.Fprintln(stderr, "simulator:", err)
		return statusNone
	}
	cmd := newSimulator(plugins)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "simulator:", err)
	var lost lostError
	var usage cli.UsageError
	switch {
	case errors.As(err, &usage):
		return cli.StatusUsage
	case !slices.Contains([]string{compareName, side.CommandName, fitName, drainName, shrinkName}, ran.Name()):
		return 1
	case errors.As(err, &lost):
		return statusLost
	}
	return statusNone
}

// Ports that kube-scheduler-simulator has, too.
const (
	pagePort   = 3000
	compatPort = 1212
)

type options struct {
	simulator.Config
	listen           string
	port, compatPort int
	from, confFile   string
	maxSize          maxSize // of the file of from
	cluster          capture.Options
	objectsOnly      bool
	notices          []snapshot.Notice // of the file of from
	headless         bool
}

func newCommand(use, short string, run func(context.Context, *cobra.Command) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), cmd) },
	}
}

func newSimulator(plugins frameworkruntime.Registry) *cobra.Command {
	o := &options{Config: simulator.Config{Plugins: plugins}}
	cmd := newCommand("simulator", "A whole Kubernetes cluster in one process, with a web page, to see regex scheduling at work",
		func(ctx context.Context, cmd *cobra.Command) error {
			o.Resume = !cmd.Flags().Changed("plugin") && !cmd.Flags().Changed("door") && !cmd.Flags().Changed("config")
			return serve(ctx, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		})
	cmd.Example = `  simulator                                   # an empty cluster, its page at http://localhost:3000
  simulator --from cluster.yaml.gz            # a copy of a cluster
  simulator compare --cluster cluster.yaml.gz --a before.yaml --b after.yaml`
	flags := cmd.Flags()
	o.AddFlags(flags)
	o.cluster.AddFlags(flags, "real cluster to start with a copy of; it is only read")
	portFlag(cmd, &o.port, "port of the page and its API; 0 is any free one")
	flags.StringVar(&o.listen, "listen", "127.0.0.1",
		"address that the page and its API listen on; whoever reaches it may do anything with the cluster, since there is no password")
	flags.IntVar(&o.compatPort, "compat-port", compatPort, "port of the API alone, as in kube-scheduler-simulator; 0 is any free one")
	flags.BoolVar(&o.headless, "headless", false, "serve the API without the page")
	flags.StringVar(&o.confFile, "config", "", "file with the KubeSchedulerConfiguration to start with, instead of --plugin")
	flags.StringVar(&o.from, "from", "", "file with a cluster to start with: from \"simulator snapshot\", an export of this or of kube-scheduler-simulator, or from kubectl get -o yaml")
	o.maxSize.add(flags)
	flags.StringVar(&o.from, "import", "", "the same as --from")
	flags.BoolVar(&o.objectsOnly, "objects-only", false, "leave out the scheduler's configuration that is in the file of --from")
	cmd.AddCommand(newWalkthrough(plugins), newSnapshot(), newCompare(plugins), newSide(plugins), newFit(plugins),
		newDrain(plugins), newShrink(plugins),
		newAsk("reset", "Make the simulator that runs at --port again what it was at its start: its objects and its configuration",
			func(ctx context.Context, port int) error { return ask(ctx, http.MethodPut, port, "reset") }),
		newAsk("stop", "Stop the simulator that runs at --port, and wait until it has stopped", stopRunning))
	cli.Complete(cmd)
	return cmd
}

func portFlag(cmd *cobra.Command, port *int, use string) {
	cmd.Flags().IntVar(port, "port", pagePort, use)
}

func newWalkthrough(plugins frameworkruntime.Registry) *cobra.Command {
	cfg := simulator.Config{Plugins: plugins}
	cmd := newCommand("walkthrough", "Start a cluster, do the steps by which the plugin is shown, and check what comes of them",
		func(ctx context.Context, cmd *cobra.Command) error {
			cfg.Warnings = warnings{cmd.ErrOrStderr()}
			return walk(ctx, cfg, cmd.OutOrStdout())
		})
	cfg.AddPluginFlag(cmd.Flags())
	return cmd
}

// newAsk makes a command that asks the simulator that runs at a port.
func newAsk(use, short string, ask func(context.Context, int) error) *cobra.Command {
	var port int
	cmd := newCommand(use, short, func(ctx context.Context, _ *cobra.Command) error { return ask(ctx, port) })
	portFlag(cmd, &port, "port of its page")
	return cmd
}
