package simulator

import (
	"context"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statusClient is a client of a kind that has a status.
type statusClient[T any] interface {
	UpdateStatus(context.Context, *T, metav1.UpdateOptions) (*T, error)
}

// putStatus restores the statuses that nobody here would bring about again: the
// room of nodes that were there already, and which volume belongs to which
// claim. Those of pods come from the kubelets and the scheduler.
func putStatus[T any, P object[T]](ctx context.Context, c client[T], from P, created *T) error {
	switch to := any(created).(type) {
	case *v1.Node:
		status := any(from).(*v1.Node).Status
		if len(status.Capacity) == 0 && len(status.Allocatable) == 0 {
			return nil // the file does not say how large it is: that stays with whoever knows
		}
		to.Status.Capacity, to.Status.Allocatable = status.Capacity, status.Allocatable
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
