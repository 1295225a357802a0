package snapshot

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// statusClient is a client of a kind that has a status.
type statusClient[T any] interface {
	UpdateStatus(context.Context, *T, metav1.UpdateOptions) (*T, error)
}

// putStatus restores the statuses that nobody here would bring about again: the
// room and the images of nodes, which volume and which device belongs to which
// claim, how far jobs are, and that a pod has ended. Those of other pods come from the
// kubelets and the scheduler.
func putStatus[T, L any, P object[T]](ctx context.Context, c client[T, L], from P, created *T) error {
	switch to := any(created).(type) {
	case *v1.Node:
		status := any(from).(*v1.Node).Status
		if len(status.Capacity) == 0 && len(status.Allocatable) == 0 {
			return nil // the file does not say how large it is: that stays with whoever knows
		}
		to.Status.Capacity, to.Status.Allocatable = status.Capacity, status.Allocatable
		to.Status.Images, to.Status.DeclaredFeatures = status.Images, status.DeclaredFeatures
	case *v1.Pod:
		status := any(from).(*v1.Pod).Status
		if !podutil.IsPodPhaseTerminal(status.Phase) {
			return nil
		}
		to.Status.Phase = status.Phase // it takes no room, and the kubelets leave it alone
	case *batchv1.Job:
		to.Status = any(from).(*batchv1.Job).Status
	case *batchv1.CronJob:
		to.Status.LastScheduleTime = any(from).(*batchv1.CronJob).Status.LastScheduleTime
	case *resourcev1.ResourceClaim:
		allocation := any(from).(*resourcev1.ResourceClaim).Status.Allocation
		if allocation == nil {
			return nil
		}
		to.Status.Allocation = allocation
	case *v1.PersistentVolume:
		to.Status.Phase = any(from).(*v1.PersistentVolume).Status.Phase
	case *v1.PersistentVolumeClaim:
		to.Status = any(from).(*v1.PersistentVolumeClaim).Status
	default:
		return nil
	}
	_, err := c.(statusClient[T]).UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}
