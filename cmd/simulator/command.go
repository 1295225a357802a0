package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot/capture"
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
	listen           string
	port, compatPort int
	from, confFile   string
	stageFiles       []string
	cluster          capture.Options
	objectsOnly      bool
	notices          []snapshot.Notice // of the file of from
	headless         bool
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
	doorFlag(cmd, o)
	portFlag(cmd, o, "port of the page and its API; 0 is any free one")
	flags := cmd.Flags()
	flags.StringVar(&o.listen, "listen", "127.0.0.1",
		"address that the page and its API listen on; whoever reaches it may do anything with the cluster, since there is no password")
	flags.IntVar(&o.compatPort, "compat-port", compatPort, "port of the API alone, as in kube-scheduler-simulator; 0 is any free one")
	flags.BoolVar(&o.headless, "headless", false, "serve the API without the page")
	flags.StringVar(&o.confFile, "config", "", "file with the KubeSchedulerConfiguration to start with, instead of --door")
	flags.StringVar(&o.from, "from", "", "file with a cluster to start with: from \"simulator snapshot\", an export of this or of kube-scheduler-simulator, or from kubectl get -o yaml")
	flags.StringVar(&o.from, "import", "", "the same as --from")
	flags.BoolVar(&o.objectsOnly, "objects-only", false, "leave out the scheduler's configuration that is in the file of --from")
	flags.StringArrayVar(&o.stageFiles, "stages", nil,
		"file of KWOK's Stages, which say what pods, nodes or objects of other kinds do; may be given more than once")
	clusterFlags(flags, &o.cluster, "real cluster to start with a copy of; it is only read")
	flags.StringVar(&o.DataDir, "data-dir", "", "directory that keeps the cluster and the scheduler's configuration (default: a temporary one)")
	flags.BoolVar(&o.ResultAnnotations, "result-annotations", false,
		"write on each pod that is scheduled what its attempts came to, in the annotations of kube-scheduler-simulator")
	flags.IntVar(&o.APIPort, "api-port", apiPort, "port of the cluster's API server on 127.0.0.1; 0 is any free one")
	flags.IntVar(&o.WebPort, "web-port", 0, "port of the web server of the guests on 127.0.0.1; 0 is any free one")
	cmd.AddCommand(newWalkthrough(o), newSnapshot(), newCompare(), newReset(o), newStop(o))
	cmd.CompletionOptions.DisableDefaultCmd = true
	return cmd
}

func doorFlag(cmd *cobra.Command, o *options) {
	cmd.Flags().StringVar(&o.Door, "door", "v2", "way into the scheduler: "+strings.Join(simulator.Doors, ", "))
}

func portFlag(cmd *cobra.Command, o *options, use string) {
	cmd.Flags().IntVar(&o.port, "port", pagePort, use)
}

// clusterFlags say which real cluster is read, and what of it.
func clusterFlags(flags *pflag.FlagSet, o *capture.Options, use string) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig of a "+use)
	flags.StringVar(&o.Context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringVar(&o.NodeSelector, "node-selector", "", "label selector: only these nodes, the pods on them, and pods without a node")
	flags.StringSliceVar(&o.Annotations, "annotation", nil, "key of an annotation to keep, since a plugin reads it; may be given more than once")
}

func newWalkthrough(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "walkthrough",
		Short: "Start a cluster, do the steps by which the plugin is shown, and check what comes of them",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return walk(cmd.Context(), simulator.Config{Door: o.Door, Warnings: warnings{cmd.ErrOrStderr()}}, cmd.OutOrStdout())
		},
	}
	doorFlag(cmd, o)
	return cmd
}

func newReset(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "Make the simulator that runs at --port again what it was at its start: its objects and its configuration",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return resetRunning(cmd.Context(), o.port)
		},
	}
	portFlag(cmd, o, "port of its page")
	return cmd
}

func newStop(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop the simulator that runs at --port, and wait until it has stopped",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return stopRunning(cmd.Context(), o.port)
		},
	}
	portFlag(cmd, o, "port of its page")
	return cmd
}
