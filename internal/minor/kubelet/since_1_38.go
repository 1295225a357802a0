//go:build kubernetes_1_38

package kubelet

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/util/feature"
	corev1nodeaffinity "k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
)

// Rejects says by which filter a kubelet rejects a pod and why, or which resource is short. Its own is a private function
// (generalFilter of pkg/kubelet/lifecycle).
func Rejects(pod *v1.Pod, node *framework.NodeInfo) (filter, why string, short *noderesources.InsufficientResource) {
	tooLittle := noderesources.Fits(pod, node, nil, noderesources.ResourceRequestsOptions{
		EnablePodLevelResources:           feature.DefaultFeatureGate.Enabled(features.PodLevelResources),
		EnableDRAExtendedResource:         feature.DefaultFeatureGate.Enabled(features.DRAExtendedResource),
		EnableDRANodeAllocatableResources: feature.DefaultFeatureGate.Enabled(features.DRANodeAllocatableResources),
	})
	if len(tooLittle) > 0 {
		return "", "", &tooLittle[0]
	}
	if matches, _ := corev1nodeaffinity.GetRequiredNodeAffinity(pod).Match(node.Node()); !matches {
		return nodeaffinity.Name, nodeaffinity.ErrReasonPod, nil
	}
	if !nodename.Fits(pod, node) {
		return nodename.Name, nodename.ErrReason, nil
	}
	if !nodeports.Fits(pod, node) {
		return nodeports.Name, nodeports.ErrReason, nil
	}
	return "", "", nil
}
