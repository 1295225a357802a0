package engine

import (
	"context"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// taint takes note of a node whose taints have changed, if pods may have to go because of that.
func (e *Engine) taint(old, node *v1.Node) {
	if reflect.DeepEqual(old.Spec.Taints, node.Spec.Taints) {
		return
	}
	delete(e.tainted, node.Name)
	if len(noExecute(node)) > 0 {
		e.tainted[node.Name] = node
	}
}

func noExecute(node *v1.Node) []v1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t v1.Taint) bool { return t.Effect != v1.TaintEffectNoExecute })
}

// evictTainted does what Kubernetes' controllers do with the pods of nodes that have such a
// taint, or are gone, and then the owners of these pods. No budget keeps a pod from that. Pods that tolerate a taint for some seconds go
// at once: a what-if is about the result.
func (e *Engine) evictTainted(ctx context.Context) error {
	if len(e.tainted) == 0 {
		return nil
	}
	var gone []*v1.Pod
	for _, pod := range e.Residents() {
		node, changed := e.tainted[pod.Spec.NodeName]
		if changed && node == nil {
			gone = append(gone, pod)
		}
		if node == nil || pod.Annotations[v1.MirrorPodAnnotationKey] != "" {
			continue
		}
		all, tolerations := helper.GetMatchingTolerations(quiet, noExecute(node), pod.Spec.Tolerations)
		forSeconds := slices.ContainsFunc(tolerations, func(t v1.Toleration) bool { return t.TolerationSeconds != nil })
		if all && forSeconds {
			e.Unmodelled("wait for tolerationSeconds")
		}
		if !all || forSeconds {
			gone = append(gone, pod)
		}
	}
	clear(e.tainted)
	slices.SortFunc(gone, cluster.ByName)
	for _, pod := range gone {
		if !Recreatable(pod) || e.WorkloadOf(pod).Kind == "DaemonSet" {
			e.Delete(pod)
		} else if err := e.Recreate(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}
