package main

import (
	"strings"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
)

// Ports that kube-scheduler-simulator has, too.
const (
	pagePort   = 3000
	compatPort = 1212
	apiPort    = 3131
)

// options are the flags.
type options struct {
	simulator.Config
	listen               string
	port, compatPort     int
	importFile, confFile string
	headless             bool
}

func newCommand() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:           "simulator",
		Short:         "A whole Kubernetes cluster in one process, with a web page, to see regex scheduling at work",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Resume = !cmd.Flags().Changed("door") && !cmd.Flags().Changed("config")
			return serve(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.PersistentFlags().StringVar(&o.Door, "door", "v2",
		"way into the scheduler: "+strings.Join(simulator.Doors, ", "))
	cmd.PersistentFlags().IntVar(&o.port, "port", pagePort, "port of the page and its API; 0 is any free one")
	flags := cmd.Flags()
	flags.StringVar(&o.listen, "listen", "127.0.0.1",
		"address that the page and its API listen on; whoever reaches it may do anything with the cluster, since there is no password")
	flags.IntVar(&o.compatPort, "compat-port", compatPort, "port of the API alone, as in kube-scheduler-simulator; 0 is any free one")
	flags.BoolVar(&o.headless, "headless", false, "serve the API without the page")
	flags.StringVar(&o.confFile, "config", "", "file with the KubeSchedulerConfiguration to start with, instead of --door")
	flags.StringVar(&o.importFile, "import", "", "file with resources to start with, as exported here or by kube-scheduler-simulator")
	flags.StringVar(&o.DataDir, "data-dir", "", "directory that keeps the cluster and the scheduler's configuration (default: a temporary one)")
	flags.BoolVar(&o.ResultAnnotations, "result-annotations", false,
		"write on each pod that is scheduled what its attempts came to, in the annotations of kube-scheduler-simulator")
	flags.IntVar(&o.APIPort, "api-port", apiPort, "port of the cluster's API server on 127.0.0.1; 0 is any free one")
	flags.IntVar(&o.WebPort, "web-port", 0, "port of the web server of the guests on 127.0.0.1; 0 is any free one")
	cmd.AddCommand(newWalkthrough(o), newReset(o), newStop(o))
	cmd.CompletionOptions.DisableDefaultCmd = true
	return cmd
}

func newWalkthrough(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "walkthrough",
		Short: "Start a cluster, do the steps by which the plugin is shown, and check what comes of them",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return walk(cmd.Context(), simulator.Config{Door: o.Door, Warnings: warnings{cmd.ErrOrStderr()}}, cmd.OutOrStdout())
		},
	}
}

func newReset(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "reset",
		Short: "Make the simulator that runs at --port again what it was at its start: its objects and its configuration",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return resetRunning(cmd.Context(), o.port)
		},
	}
}

func newStop(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the simulator that runs at --port, and wait until it has stopped",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return stopRunning(cmd.Context(), o.port)
		},
	}
}
