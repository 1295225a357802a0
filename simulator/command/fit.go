package command

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/whatif/fit"
)

type fitCommand struct {
	copyFlags
	plugins          frameworkruntime.Registry
	files            []string
	format, growWith string
	untilFull, nodes bool
}

const fitName = "fit"

func newFit(plugins frameworkruntime.Registry) *cobra.Command {
	f := &fitCommand{plugins: plugins}
	cmd := newCommand(fitName+" -f manifests/ {--cluster cluster.yaml | --kubeconfig FILE}",
		"Schedule what manifests would make, in a copy of a cluster, and show what waits, and why", nil)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }
	cmd.Long = cmd.Short + `.

The exit status is 0 if all would fit, 1 if a pod would stay pending, also one that runs now and is
preempted, and 2 if nothing was tried. With --until-full it is 1 if no replica of a workload fits,
with --grow-with if a pod would stay pending however many nodes are added.`
	flags := cmd.Flags()
	f.copyFlags.add(flags)
	flags.StringSliceVarP(&f.files, "filename", "f", nil, "manifests: a file, a directory, or - for standard input; may be given more than once")
	flags.BoolVar(&f.untilFull, "until-full", false,
		fmt.Sprintf("say how many more replicas of each workload fit, added in turn, %d at most, without preempting anybody", fit.MostReplicas))
	flags.StringVar(&f.growWith, "grow-with", "",
		fmt.Sprintf("file with a Node: say how many more like it are needed until everything fits, %d at most", fit.MostNodes))
	flags.BoolVar(&f.nodes, "nodes", false, "list each pod with its node")
	outputFlag(flags, &f.format, slices.Sorted(maps.Keys(fit.Formats)), "table, markdown or json")
	return cmd
}

func (f *fitCommand) run(cmd *cobra.Command) error {
	write := fit.Formats[f.format]
	if len(f.files) == 0 {
		return fmt.Errorf("-f is missing: the manifests; try simulator %s --help", fitName)
	}
	if err := f.check(fitName); err != nil {
		return err
	}
	manifests, err := fit.Read(f.files, cmd.InOrStdin())
	if err != nil {
		return err
	}
	o := fit.Options{Manifests: manifests, UntilFull: f.untilFull, Runs: f.runs}
	if f.growWith != "" {
		if o.GrowWith, err = fit.ReadNode(f.growWith, cmd.InOrStdin()); err != nil {
			return fmt.Errorf("--grow-with %w", err)
		}
	}
	tried, err := f.whatIf(cmd, f.plugins)
	if err != nil {
		return err
	}
	defer tried.done()
	progress := progressOf(cmd)
	o.Options, o.Name, o.Progress = tried.Options, tried.name(), progress.tells
	fitting, err := fit.Fit(cmd.Context(), o)
	progress.end()
	if err != nil {
		return tried.labelled(err)
	}
	if err := write(cmd.OutOrStdout(), fitting, f.nodes); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if !fitting.Fits() {
		return lostError(fitting.Verdict())
	}
	return nil
}
