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
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
)

func newWhy(plugins frameworkruntime.Registry) *cobra.Command {
	t := trial{plugins: plugins}
	var namespace string
	cmd := whatIfCommand(&cobra.Command{
		Use:   "why [POD | WORKLOAD] {--kubeconfig FILE | --cluster FILE}",
		Short: "Show why pods are pending, and what would help",
		Long: `Show why a pod of a cluster is pending, or all that are, by cause, or those of a workload, such as deploy/web. The
pods are tried in a copy of the cluster in memory, under the configuration of --config. Of one pod, every plugin's verdict on every node is shown. Changes
that could help, such as to uncordon a node, are tried one by one. The cluster is only read.

The exit status is 0 if the pod is not pending, or would be scheduled, 1 if it stays pending, or one of all does, and
2 if there is no result.`,
		Example: `  # Show why pods are pending, by cause
  simulator why --kubeconfig ~/.kube/config

  # Show why a pod is pending
  simulator why shop/web-0 --kubeconfig ~/.kube/config

  # Show why the pods of a Deployment are pending
  simulator why deploy/web -n shop --kubeconfig ~/.kube/config

  # Use the configuration that the cluster's scheduler has, and write a page
  simulator why web-0 -n shop --cluster cluster.yaml --config scheduler.yaml \
    -o html > why.html`,
		Args: cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return t.whyAll(cmd, namespace, cluster.Workload{})
		}
		if workload := workloadNamed(args[0]); workload.Kind != "" {
			return t.whyAll(cmd, cmp.Or(namespace, t.live.Namespace(), v1.NamespaceDefault), workload)
		}
		pod, err := podNamed(args[0], namespace)
		if err != nil {
			return err
		}
		return t.why(cmd, pod)
	})
	t.add(cmd.Flags())
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "namespace of the pod or the workload (default: that of the kubeconfig's context, or else default), or without one, of the pods (default: all)")
	return cmd
}

// shortNames are kubectl's.
var shortNames = map[string]string{"deploy": "Deployment", "sts": "StatefulSet", "ds": "DaemonSet", "rs": "ReplicaSet", "cj": "CronJob", "rc": "ReplicationController"}

// workloadNamed is the workload of an argument, in the forms that kubectl takes: deploy/web, deployments/web, deployment.apps/web. It is
// empty if the argument is none. A pod of a namespace that is called so has to be named with --namespace.
func workloadNamed(arg string) cluster.Workload {
	of, name, _ := strings.Cut(arg, "/")
	of, _, _ = strings.Cut(strings.ToLower(of), ".")
	kind := shortNames[of]
	for full := range why.Workloads {
		if of == strings.ToLower(full) || of == strings.ToLower(full)+"s" {
			kind = full
		}
	}
	if name == "" || kind == "" {
		return cluster.Workload{}
	}
	return cluster.Workload{Kind: kind, Name: name}
}

// podNamed is the pod of an argument: web-0, pod/web-0, or shop/web-0 as reports have it.
func podNamed(arg, namespace string) (types.NamespacedName, error) {
	for _, kind := range []string{"pod/", "pods/", "po/"} {
		arg = strings.TrimPrefix(arg, kind)
	}
	of, name, qualified := strings.Cut(arg, "/")
	switch {
	case !qualified:
		return types.NamespacedName{Namespace: namespace, Name: of}, nil
	case namespace != "" && namespace != of:
		return types.NamespacedName{}, fmt.Errorf("%s and --namespace %s: choose one of the two", arg, namespace)
	}
	return types.NamespacedName{Namespace: of, Name: name}, nil
}

func (t *trial) whyAll(cmd *cobra.Command, namespace string, of cluster.Workload) error {
	return t.try(cmd, func(with tried) (result found, err error) {
		all, err := why.Pending(cmd.Context(), why.Options{Options: with.Options, Pod: types.NamespacedName{Namespace: namespace}, Workload: of, Progress: with.progress})
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
