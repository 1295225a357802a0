package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
)

// removal is the command drain, or shrink.
type removal struct {
	trial
	options                             drain.Options
	selector, podSelector, zone, prices string
	workers                             bool // all nodes but those of the control plane
}

func newDrain(plugins frameworkruntime.Registry) *cobra.Command {
	r := &removal{trial: trial{plugins: plugins}}
	cmd := whatIfCommand(&cobra.Command{
		Use:   "drain {NODE... | -l SELECTOR | --pod-selector SELECTOR} {--cluster FILE | --kubeconfig FILE}",
		Short: "Show where the pods of drained nodes would go",
		Long: `Drain nodes in a copy of a cluster, or evict pods, and show where each pod would go, or why it would be
unschedulable. Disruption budgets are respected, and pods of DaemonSets are ignored.

The exit status is 0 if every pod is scheduled again, 1 if one is not or stays terminating, and 2 if there is no result.`,
		Example: `  # Drain a node
  simulator drain node-1 --kubeconfig ~/.kube/config

  # Drain the nodes of a pool
  simulator drain -l pool=old --cluster cluster.yaml

  # Evict the pods of an application
  simulator drain --pod-selector app=web --cluster cluster.yaml`,
	}, func(cmd *cobra.Command, names []string) error {
		if !exactlyOne(len(names) > 0, r.selector != "", r.podSelector != "") {
			return errors.New("choose what to drain: name nodes, or give --selector, or give --pod-selector")
		}
		return r.run(cmd, names, drain.Drain)
	})
	r.add(cmd.Flags())
	cmd.Flags().StringVar(&r.podSelector, "pod-selector", "", "label selector of pods to evict, instead of nodes to drain; they may return to their node")
	return cmd
}

// exactlyOne says whether one of some flags is given, and no other.
func exactlyOne(given ...bool) bool {
	return len(slices.DeleteFunc(given, func(is bool) bool { return !is })) == 1
}

func newShrink(plugins frameworkruntime.Registry) *cobra.Command {
	r := &removal{trial: trial{plugins: plugins}}
	cmd := whatIfCommand(&cobra.Command{
		Use:   "shrink {--cluster FILE | --kubeconfig FILE}",
		Short: "Find nodes that a cluster does not need",
		Long: `Find nodes that a cluster does not need, by draining nodes in a copy of it, the emptiest first. A node can go
if every pod is scheduled again. The search is greedy: another order may find more. Nodes of the control plane are
looked at only if --selector selects them.

The exit status is 0 if nodes can go, 1 if none can, and 2 if there is no result.`,
		Example: `  # Find nodes that can go, and what that saves
  simulator shrink --kubeconfig ~/.kube/config --prices prices.yaml

  # Look at the nodes of a pool only
  simulator shrink -l pool=old --cluster cluster.yaml`,
		Args: noArgs("choose nodes with --selector"),
	}, func(cmd *cobra.Command, _ []string) error {
		r.workers = r.selector == ""
		return r.run(cmd, nil, drain.Shrink)
	})
	r.add(cmd.Flags())
	cmd.Flags().StringVar(&r.prices, "prices", "", "file with the prices of nodes, by instance type or by another label")
	return cmd
}

func (r *removal) add(flags *pflag.FlagSet) {
	r.trial.add(flags)
	r.addRuns(flags)
	flags.StringVarP(&r.selector, "selector", "l", r.selector, "label selector of the nodes")
	flags.BoolVar(&r.options.Force, "force", false, "also evict pods without a controller, and recreate them")
}

func (r *removal) run(cmd *cobra.Command, names []string, remove func(context.Context, drain.Options) (*drain.Result, error)) error {
	return r.try(cmd, func(with tried) (result found, err error) {
		o := &r.options
		o.Options = with.Options
		o.Runs = r.runs
		o.Zone = r.zone
		o.Progress = with.progress
		if err := cmp.Or(r.choose(names), r.readPrices()); err != nil {
			return result, err
		}
		bare := o.Bare()
		if slices.Contains([]string{"drain", "upgrade"}, cmd.Name()) && !o.Force && len(bare) > 0 {
			return result, fmt.Errorf("no controller recreates these pods: %s; --force shows where they would go if one did", report.Few(bare))
		}
		removed, err := remove(cmd.Context(), *o)
		if err != nil {
			return result, err
		}
		again := ""
		if removed.Shrink && len(removed.Go) > 0 {
			again = drainCommand(cmd, removed)
		}
		result.data = removed
		result.basis = &removed.Basis
		result.report = removed.Report(again)
		switch {
		case !removed.Shrink && len(removed.Stay) > 0:
			result.lost = removed.Verdict()
		case removed.Lost() > 0:
			result.lost = fmt.Sprintf("%d of %d pods have no other node", removed.Lost(), len(removed.Moves))
		case len(removed.Go) == 0 && o.Pods == nil:
			result.lost = "no node can go"
		}
		return result, nil
	})
}

// choose finds the nodes that are named, by a name or as node/NAME, or those with the labels, or that there are pods
// with the labels.
func (r *removal) choose(names []string) (err error) {
	o := &r.options
	if r.podSelector != "" {
		o.Pods, err = labels.Parse(r.podSelector)
		if err != nil {
			return fmt.Errorf("--pod-selector %s: %w", r.podSelector, err)
		}
		matches := func(pod v1.Pod) bool { return pod.Spec.NodeName != "" && o.Pods.Matches(labels.Set(pod.Labels)) }
		if !slices.ContainsFunc(o.Cluster.Pods, matches) {
			return fmt.Errorf("--pod-selector %s: no pod that has a node matches", r.podSelector)
		}
		return nil
	}
	if r.workers {
		o.Nodes = slices.Sorted(slices.Values(drain.Workers(o.Cluster)))
		if len(o.Nodes) == 0 {
			return errors.New("no node may go: without --selector, those of the control plane may not")
		}
		return nil
	}
	names = slices.Clone(names)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "node/") // as kubectl get nodes -o name prints it
	}
	selector, err := labels.Parse(r.selector)
	if err != nil {
		return fmt.Errorf("--selector %s: %w", r.selector, err)
	}
	for _, node := range o.Cluster.Nodes {
		if r.zone != "" && node.Labels[v1.LabelTopologyZone] != r.zone {
			continue
		}
		if slices.Contains(names, node.Name) || len(names) == 0 && selector.Matches(labels.Set(node.Labels)) {
			o.Nodes = append(o.Nodes, node.Name)
		}
	}
	at := func(node string) int { return slices.Index(names, node) } // named ones go in this order, as with kubectl drain
	slices.SortFunc(o.Nodes, func(a, b string) int { return cmp.Or(at(a)-at(b), cmp.Compare(a, b)) })
	unknown := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(o.Nodes, name) })
	if slices.ContainsFunc(unknown, func(name string) bool { return strings.Contains(name, ",") }) {
		return fmt.Errorf("the cluster has no node %s; put a space between two nodes, and no comma", report.Few(unknown))
	}
	if len(unknown) > 0 {
		return fmt.Errorf("the cluster has no node %s", report.Few(unknown))
	}
	if len(o.Nodes) == 0 && r.zone != "" {
		return fmt.Errorf("--zone %s: no node is in it", r.zone)
	}
	if len(o.Nodes) == 0 {
		return fmt.Errorf("--selector %s: no node matches", r.selector)
	}
	return nil
}

func (r *removal) readPrices() (err error) {
	if r.prices == "" {
		return nil
	}
	r.options.Prices, err = drain.ReadPrices(r.prices)
	if err != nil {
		return err
	}
	return r.options.Prices.Check(r.options.Cluster.Nodes)
}

// drainCommand is the command that drains the nodes that were found.
func drainCommand(cmd *cobra.Command, removed *drain.Result) string {
	line := []string{"simulator", "drain"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"selector", "prices", "output", "quiet", "runs", "seed"}, f.Name) {
			line = append(line, "--"+f.Name+"="+strings.Trim(f.Value.String(), "[]"))
		}
	})
	if removed.Basis.Seed != 1 {
		line = append(line, fmt.Sprint("--seed=", removed.Basis.Seed))
	}
	return cli.Shell(line, removed.Go...)
}
