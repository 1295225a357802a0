package drain

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// controlPlaneLabels are on nodes that a cluster cannot lose: those of kubeadm today and before 1.20, which OpenShift still has,
// of RKE, and of MicroK8s.
var controlPlaneLabels = []string{
	"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "node-role.kubernetes.io/controlplane", "node-role.kubernetes.io/etcd",
	"node.kubernetes.io/microk8s-controlplane",
}

// Workers are the nodes of a cluster but those of its control plane, which have one of its labels, or run
// kube-apiserver as a static pod.
func Workers(s *snapshot.Snapshot) (names []string) {
	serving := sets.Set[string]{}
	for i := range s.Pods {
		pod := &s.Pods[i]
		if pod.Annotations[v1.MirrorPodAnnotationKey] != "" && strings.TrimSuffix(pod.Name, "-"+pod.Spec.NodeName) == "kube-apiserver" {
			serving.Insert(pod.Spec.NodeName)
		}
	}
	for i := range s.Nodes {
		node := &s.Nodes[i]
		has := func(label string) bool { _, ok := node.Labels[label]; return ok }
		if !serving.Has(node.Name) && !slices.ContainsFunc(controlPlaneLabels, has) {
			names = append(names, node.Name)
		}
	}
	return names
}
