//go:build kubernetes_1_37

package hooks

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func pendingPods(group *framework.QueuedPodGroupInfo) []*v1.Pod { return group.GetUnscheduledPods() }
