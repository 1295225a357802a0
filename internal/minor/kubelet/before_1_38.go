//go:build !kubernetes_1_38

package kubelet

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
)

// Rejects says by which filter a kubelet rejects a pod and why, or which resource is short.
func Rejects(pod *v1.Pod, node *framework.NodeInfo) (filter, why string, short *noderesources.InsufficientResource) {
	rejected := scheduler.AdmissionCheck(pod, node, false)
	if len(rejected) == 0 {
		return "", "", nil
	}
	return rejected[0].Name, rejected[0].Reason, rejected[0].InsufficientResource
}
