package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
)

func newWhy(plugins frameworkruntime.Registry) *cobra.Command {
	t, namespace := trial{plugins: plugins}, ""
	cmd := whatIfCommand(&cobra.Command{
		Use:   "why POD {--kubeconfig FILE | --cluster FILE}",
		Short: "Show why a pod is pending: what every plugin says of every node",
		Long: `Show why a pod of a cluster is pending. The pod is tried in a copy of the cluster in memory, under the
configuration of --config: every plugin's verdict on every node is shown. The cluster is only read.

The exit status is 0 if the pod is not pending, or would be scheduled, 1 if it stays pending, and 2 if there is
no result.`,
		Example: `  # Show why a pod is pending
  simulator why web-0 -n shop --kubeconfig ~/.kube/config

  # Use the configuration that the cluster's scheduler has, and write a page
  simulator why web-0 --cluster cluster.yaml --config scheduler.yaml -o html > why.html`,
		Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, args []string) error {
		return t.why(cmd, types.NamespacedName{Namespace: namespace, Name: strings.TrimPrefix(args[0], "pod/")})
	})
	flags := cmd.Flags()
	t.clusterFlags.add(flags)
	flags.StringVarP(&namespace, "namespace", "n", "", "namespace of the pod (default: that of the kubeconfig's context, or else default)")
	t.addConfig(flags)
	outputFlag(flags, &t.format, "html", "json", "markdown", "table")
	return cmd
}

func (t *trial) why(cmd *cobra.Command, pod types.NamespacedName) error {
	if pod.Namespace == "" {
		pod.Namespace = cmp.Or(t.live.Namespace(), v1.NamespaceDefault)
	}
	var result *why.Result
	err := t.try(cmd, func(with tried) (err error) {
		result, err = why.Why(cmd.Context(), why.Options{Options: with.Options, Pod: pod, Name: with.name, Progress: with.progress})
		return err
	})
	if err != nil {
		return err
	}
	write := why.Formats[t.format]
	if t.format == "html" {
		write = page.WriteWhy
	}
	if err := write(cmd.OutOrStdout(), result); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if result.Pending {
		return lostError("pod " + result.Pod + " stays pending")
	}
	return nil
}
