package command

import (
	"cmp"
	"io"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
)

func newWhy(plugins frameworkruntime.Registry) *cobra.Command {
	t := trial{plugins: plugins}
	var namespace string
	cmd := whatIfCommand(&cobra.Command{
		Use:   "why POD {--kubeconfig FILE | --cluster FILE}",
		Short: "Show why a pod is pending, by plugin and node",
		Long: `Show why a pod of a cluster is pending. The pod is tried in a copy of the cluster in memory, under the
configuration of --config: every plugin's verdict on every node is shown. The cluster is only read.

The exit status is 0 if the pod is not pending, or would be scheduled, 1 if it stays pending, and 2 if there is
no result.`,
		Example: `  # Show why a pod is pending
  simulator why web-0 -n shop --kubeconfig ~/.kube/config

  # Use the configuration that the cluster's scheduler has, and write a page
  simulator why web-0 --cluster cluster.yaml --config scheduler.yaml \
    -o html > why.html`,
		Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, args []string) error {
		return t.why(cmd, types.NamespacedName{Namespace: namespace, Name: strings.TrimPrefix(args[0], "pod/")})
	})
	t.add(cmd.Flags())
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "namespace of the pod (default: that of the kubeconfig's context, or else default)")
	return cmd
}

func (t *trial) why(cmd *cobra.Command, pod types.NamespacedName) error {
	return t.try(cmd, func(with tried) (result found, err error) {
		pod.Namespace = cmp.Or(pod.Namespace, t.live.Namespace(), v1.NamespaceDefault)
		is, err := why.Why(cmd.Context(), why.Options{Options: with.Options, Pod: pod, Progress: with.progress})
		if err != nil {
			return result, err
		}
		if is.Pending {
			result.lost = "pod " + is.Pod + " stays pending"
		}
		result.data = is
		result.basis = is.Basis
		result.report = is.Report()
		result.page = func(w io.Writer) error { return page.WriteWhy(w, is) }
		return result, nil
	})
}
