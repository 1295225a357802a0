package command

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
)

func newWhy(plugins frameworkruntime.Registry) *cobra.Command {
	t := trial{plugins: plugins}
	var namespace string
	cmd := whatIfCommand(&cobra.Command{
		Use:   "why [POD] {--kubeconfig FILE | --cluster FILE}",
		Short: "Show why pods are pending, and what would help",
		Long: `Show why a pod of a cluster is pending, or all that are, by cause. The pods are tried in a copy of the cluster in
memory, under the configuration of --config. Of one pod, every plugin's verdict on every node is shown. Changes
that could help, such as to uncordon a node, are tried one by one. The cluster is only read.

The exit status is 0 if the pod is not pending, or would be scheduled, 1 if it stays pending, or one of all does, and
2 if there is no result.`,
		Example: `  # Show why pods are pending, by cause
  simulator why --kubeconfig ~/.kube/config

  # Show why a pod is pending
  simulator why shop/web-0 --kubeconfig ~/.kube/config

  # Use the configuration that the cluster's scheduler has, and write a page
  simulator why web-0 -n shop --cluster cluster.yaml --config scheduler.yaml \
    -o html > why.html`,
		Args: cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return t.whyAll(cmd, namespace)
		}
		pod, err := podNamed(args[0], namespace)
		if err != nil {
			return err
		}
		return t.why(cmd, pod)
	})
	t.add(cmd.Flags())
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "namespace of the pod (default: that of the kubeconfig's context, or else default), or without POD, of the pods (default: all)")
	return cmd
}

// podNamed is the pod of an argument: web-0, pod/web-0, or shop/web-0 as reports have it.
func podNamed(arg, namespace string) (types.NamespacedName, error) {
	of, name, qualified := strings.Cut(strings.TrimPrefix(arg, "pod/"), "/")
	switch {
	case !qualified:
		return types.NamespacedName{Namespace: namespace, Name: of}, nil
	case namespace != "" && namespace != of:
		return types.NamespacedName{}, fmt.Errorf("%s and --namespace %s: choose one of the two", arg, namespace)
	}
	return types.NamespacedName{Namespace: of, Name: name}, nil
}

func (t *trial) whyAll(cmd *cobra.Command, namespace string) error {
	return t.try(cmd, func(with tried) (result found, err error) {
		all, err := why.Pending(cmd.Context(), why.Options{Options: with.Options, Pod: types.NamespacedName{Namespace: namespace}, Progress: with.progress})
		if err != nil {
			return result, err
		}
		if all.Counts.Pending > 0 {
			result.lost = report.Plural(all.Counts.Pending, "pod") + " would stay pending"
		}
		result.data = all
		result.basis = &all.Basis
		result.report = all.Report()
		return result, nil
	})
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
