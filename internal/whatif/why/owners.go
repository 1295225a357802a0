package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// Taints and labels of nodes are set by people or by controllers. A change of what a controller sets is undone, or does harm.

func taints(c *cluster.Cluster, pod *v1.Pod, nodes []string) (all []candidate) {
	on := map[v1.Taint][]string{}
	for _, name := range nodes {
		node := cluster.Get[*v1.Node](c, "", name)
		if node == nil {
			continue
		}
		for _, taint := range node.Spec.Taints {
			taint.TimeAdded = nil
			tolerated, _ := helper.GetMatchingTolerations(klog.New(nil), []v1.Taint{taint}, pod.Spec.Tolerations)
			if !tolerated && taint.Effect != v1.TaintEffectPreferNoSchedule {
				on[taint] = append(on[taint], name)
			}
		}
	}
	sorted := slices.SortedFunc(maps.Keys(on), func(a, b v1.Taint) int {
		return cmp.Or(len(on[b])-len(on[a]), cmp.Compare(a.ToString(), b.ToString()))
	})
	for _, taint := range sorted {
		all = append(all, candidate{says: remedy(taint, report.Few(on[taint])), cause: true, apply: func(pod *v1.Pod) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{Key: taint.Key, Value: taint.Value, Operator: v1.TolerationOpEqual, Effect: taint.Effect})
		}})
	}
	return all
}

// remedy is what to do about a taint.
func remedy(taint v1.Taint, nodes string) string {
	domain, name, qualified := strings.Cut(taint.Key, "/")
	switch {
	case taint.Key == v1.TaintNodeOutOfService: // an administrator adds it, and removes it
		return fmt.Sprintf("repair %s, and remove the taint %s", nodes, taint.ToString())
	case domain == "node.kubernetes.io", taint.Key == "node.cloudprovider.kubernetes.io/shutdown":
		return fmt.Sprintf("repair %s, so that the taint %s goes", nodes, taint.ToString())
	case slices.Contains([]string{"agent-not-ready", "uninitialized", "unregistered"}, name) || strings.HasSuffix(domain, ".cluster-autoscaler.kubernetes.io"):
		return fmt.Sprintf("wait until the taint %s of %s goes", taint.ToString(), nodes)
	case qualified: // it may be a controller's
		return fmt.Sprintf("tolerate the taint %s of %s", taint.ToString(), nodes)
	}
	return fmt.Sprintf("tolerate the taint %s of %s, or remove it", taint.ToString(), nodes)
}

// leaves reports whether a node is about to be deleted.
func leaves(node *v1.Node) bool {
	return node != nil && (node.DeletionTimestamp != nil || slices.ContainsFunc(node.Spec.Taints, func(taint v1.Taint) bool {
		switch taint.Key {
		case "ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption", "cloud.google.com/impending-node-termination":
			return true
		}
		return strings.HasPrefix(taint.Key, "aws-node-termination-handler/")
	}))
}

// labelled is how a cluster gets a node with labels.
func labelled(keys ...string) string {
	if slices.ContainsFunc(keys, notByPeople) {
		return "add a node that has it"
	}
	return "label a node so"
}

// notByPeople reports whether a node's label or field is set by its kubelet, its cloud or another controller.
func notByPeople(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	if domain == "node-role.kubernetes.io" || domain == "node-restriction.kubernetes.io" {
		return false
	}
	return key == "metadata.name" || slices.ContainsFunc(
		[]string{"kubernetes.io", "k8s.io", "karpenter.sh", "karpenter.k8s.aws", "amazonaws.com", "azure.com", "cloud.google.com"},
		func(of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) },
	)
}
