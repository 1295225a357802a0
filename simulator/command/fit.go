package command

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
)

type fitCommand struct {
	trial
	files            []string
	growWith         string
	untilFull, nodes bool
	ignoreUnknown    bool
	replace          bool
	namespace        string
}

func newFit(plugins frameworkruntime.Registry) *cobra.Command {
	f := &fitCommand{trial: trial{plugins: plugins}}
	cmd := whatIfCommand(&cobra.Command{
		Use:   "fit -f FILENAME {--cluster FILE | --kubeconfig FILE}",
		Short: "Show where the pods of manifests would be scheduled",
		Long: `Show where the pods of manifests would be scheduled in a copy of a cluster, which of them would stay
pending, and why.

The exit status is 0 if all pods fit, 1 if a pod would stay pending, also one that runs now and would be
preempted, and 2 if there is no result. With --until-full it is 1 if no replica of a workload fits; with
--grow-with, if pods would stay pending however many nodes are added.`,
		Example: `  # Check whether the manifests of a directory fit a cluster
  simulator fit -f manifests/ --kubeconfig ~/.kube/config

  # Count how many more replicas fit
  simulator fit -f web.yaml --cluster cluster.yaml --until-full

  # Count how many more nodes the manifests need
  simulator fit -f manifests/ --cluster cluster.yaml --grow-with node.yaml`,
		Args: noArgs("give each file of manifests with -f"),
	}, func(cmd *cobra.Command, _ []string) error { return f.answer(cmd, fit.Fit) })
	f.addFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.untilFull, "until-full", false,
		"count how many more replicas of each workload fit, added in turn, at most 10,000, without preemption")
	flags.StringVar(&f.growWith, "grow-with", "",
		"file with a Node: count how many more nodes like it are needed until everything fits, at most 5,000")
	return cmd
}

// addFlags adds the flags of commands that apply manifests.
func (f *fitCommand) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.add(flags)
	f.addRuns(flags)
	flags.StringSliceVarP(&f.files, "filename", "f", nil, "manifests: a file, a directory, or - for standard input; can be repeated")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the manifests (default: that of the kubeconfig's context, or else default)")
	flags.BoolVar(&f.ignoreUnknown, "ignore-unknown", false, "answer without objects of which it is not known whether they make pods: of kinds that are not Kubernetes' own, without a pod template")
	flags.BoolVar(&f.replace, "replace", false, "replace what is there, as kubectl replace does, and Pods that differ: by default manifests are merged into it, as kubectl apply does")
	flags.BoolVar(&f.nodes, "nodes", false, "list each pod with its node")
}

func (f *fitCommand) answer(cmd *cobra.Command, ask func(context.Context, fit.Options) (*fit.Fitting, error)) error {
	if len(f.files) == 0 {
		return fmt.Errorf("-f is missing: the manifests; try simulator %s --help", cmd.Name())
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.file == "-" && slices.Contains(f.files, "-") {
		return errors.New("-f - and --cluster -: standard input can be only one of the two")
	}
	namespace := fit.Namespace{Name: f.namespace, Enforced: f.namespace != ""}
	if !namespace.Enforced && f.live.Kubeconfig != "" {
		namespace.Name = f.live.Namespace()
	}
	manifests, err := doUntil(cmd.Context(), func() (*fit.Manifests, error) { return fit.Read(f.files, cmd.InOrStdin(), namespace) })
	if err != nil {
		return err
	}
	o := fit.Options{Manifests: manifests, UntilFull: f.untilFull, Runs: f.runs, IgnoreUnknown: f.ignoreUnknown, Replace: f.replace}
	if f.growWith != "" {
		o.GrowWith, err = doUntil(cmd.Context(), func() (*v1.Node, error) { return fit.ReadNode(f.growWith, cmd.InOrStdin()) })
		if err != nil {
			return fmt.Errorf("--grow-with %w", err)
		}
		f.addsNodes = true
	}
	defer func() {
		for _, f := range manifests.Findings() {
			fmt.Fprintf(warnings{cmd.ErrOrStderr()}, "notice: %s:%d: %s: %s\n", f.File, f.Line, f.Object, f.Text())
		}
	}()
	return f.try(cmd, func(with tried) (result found, err error) {
		o.Options = with.Options
		o.Progress = with.progress
		fitting, err := ask(cmd.Context(), o)
		if err != nil {
			return result, err
		}
		if !fitting.Fits() {
			result.lost = fitting.Verdict()
		}
		result.data = fitting
		result.basis = &fitting.Basis
		result.report = fitting.Report(f.nodes)
		return result, nil
	})
}
