package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
)

func newUpgrade(plugins frameworkruntime.Registry) *cobra.Command {
	r := &removal{trial: trial{plugins: plugins}}
	var like string
	cmd := whatIfCommand(&cobra.Command{
		Use:   "upgrade {NODE... | -l SELECTOR} {--cluster FILE | --kubeconfig FILE}",
		Short: "Show how far the replacement of nodes would get",
		Long: `Replace nodes in a copy of a cluster, one after the other: cordon, drain with disruption budgets, remove, and
add a successor. Show how far that gets, and which pod or budget stops it.

The exit status is 0 if all nodes are replaced, 1 if not, and 2 if there is no result.`,
		Example: `  # Upgrade the nodes of a pool, with one more node meanwhile
  simulator upgrade -l pool=web --surge 1 --kubeconfig ~/.kube/config

  # Replace nodes by others
  simulator upgrade -l pool=web --node new.yaml --cluster cluster.yaml`,
	}, func(cmd *cobra.Command, names []string) (err error) {
		if !exactlyOne(len(names) > 0, r.selector != "") {
			return errors.New("choose what to upgrade: name nodes, or give --selector")
		}
		if like != "" {
			r.options.Node, err = doUntil(cmd.Context(), func() (*v1.Node, error) { return fit.ReadNode(like, cmd.InOrStdin()) })
			if err != nil {
				return fmt.Errorf("--node %w", err)
			}
		}
		return r.run(cmd, names, drain.Upgrade)
	})
	r.add(cmd.Flags())
	cmd.Flags().Var(cli.Number(&r.options.Surge, 0, fit.MostNodes), "surge", "how many nodes are added first")
	cmd.Flags().StringVar(&like, "node", "", "file with a Node that the new ones are like, instead of the ones that they replace")
	return cmd
}

func newFail(plugins frameworkruntime.Registry) *cobra.Command {
	r := &removal{trial: trial{plugins: plugins}}
	cmd := whatIfCommand(&cobra.Command{
		Use:   "fail {NODE... | -l SELECTOR | --zone ZONE} {--cluster FILE | --kubeconfig FILE}",
		Short: "Show what would be back if nodes or a zone failed",
		Long: `Have nodes fail in a copy of a cluster: they are not ready, their pods are evicted when they do not tolerate that
any more, and their controllers create others. Show what is evicted when, what is back, and what cannot come back.

The exit status is 0 if every pod is back, 1 if one is not, and 2 if there is no result.`,
		Example: `  # A node fails
  simulator fail node-1 --kubeconfig ~/.kube/config

  # A zone fails
  simulator fail --zone eu-1a --cluster cluster.yaml`,
	}, func(cmd *cobra.Command, names []string) error {
		if !exactlyOne(len(names) > 0, r.selector != "", r.zone != "") {
			return errors.New("choose what fails: name nodes, or give --selector, or give --zone")
		}
		return r.run(cmd, names, drain.Fail)
	})
	r.add(cmd.Flags())
	cmd.Flags().StringVar(&r.zone, "zone", "", "the zone that fails: the nodes whose label "+v1.LabelTopologyZone+" has this value")
	return cmd
}

func newRollout(plugins frameworkruntime.Registry) *cobra.Command {
	f := &fitCommand{trial: trial{plugins: plugins}}
	cmd := whatIfCommand(&cobra.Command{
		Use:   "rollout -f FILENAME {--cluster FILE | --kubeconfig FILE}",
		Short: "Show whether the rollout of changed manifests would end",
		Long: `Apply manifests in a copy of a cluster, where each workload is rolled out by its controller. Show what happens
when, and of a rollout that does not end the pod that is pending, why, and what would let it go on.

The exit status is 0 if all rollouts end, 1 if one does not, and 2 if there is no result.`,
		Example: `  # Roll out changed manifests
  simulator rollout -f web.yaml --kubeconfig ~/.kube/config`,
		Args: noArgs("give each file of manifests with -f"),
	}, func(cmd *cobra.Command, _ []string) error {
		return f.answer(cmd, fit.Rollout)
	})
	f.addFlags(cmd)
	return cmd
}
