package drain

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// controlPlaneRoles are the roles of nodes that a cluster cannot lose, after the prefix of their label: those of kubeadm
// today and before 1.20, which OpenShift still has, and those of RKE.
var controlPlaneRoles = []string{"control-plane", "master", "controlplane", "etcd"}

// Workers are the nodes of a cluster but those of its control plane, which have one of its roles, or run
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
		has := func(role string) bool { _, ok := node.Labels["node-role.kubernetes.io/"+role]; return ok }
		if !serving.Has(node.Name) && !slices.ContainsFunc(controlPlaneRoles, has) {
			names = append(names, node.Name)
		}
	}
	return names
}
