//go:build !kubernetes_1_35

package hooks

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Queued is what a SchedulePod is given.
type Queued = framework.QueuedPodInfo

// PodOf is the pod in it.
func PodOf(queued *Queued) *v1.Pod { return queued.Pod }

// Enqueue is the opposite, for tests.
func Enqueue(pod *v1.Pod) *Queued {
	return &Queued{PodInfo: &framework.PodInfo{Pod: pod}}
}

// Permit asks the plugins of a profile, for tests.
func Permit(ctx context.Context, profile framework.Framework, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	_, status := profile.RunPermitPlugins(ctx, state, pod, node)
	return status
}
