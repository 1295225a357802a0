package engine

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// behind is the pod that has to be ready before a StatefulSet makes one, or empty. Pods that
// the file does not have are taken to be ready: there, too, something makes them.
func (e *Engine) behind(pod *v1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != "StatefulSet" {
		return ""
	}
	set := cluster.Get[*appsv1.StatefulSet](e.Cluster, pod.Namespace, owner.Name)
	if set == nil || set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		return ""
	}
	start := int(ptr.Deref(set.Spec.Ordinals, appsv1.StatefulSetOrdinals{}).Start)
	for at := range int(ptr.Deref(set.Spec.Replicas, 1)) {
		name := fmt.Sprintf("%s-%d", set.Name, start+at)
		if name == pod.Name {
			return ""
		}
		before := cluster.Get[*v1.Pod](e.Cluster, pod.Namespace, name)
		if before == nil && e.gone[types.NamespacedName{Namespace: pod.Namespace, Name: name}] || before != nil && !podutil.IsPodReady(before) {
			return name
		}
	}
	return ""
}

// CreateInOrder creates a pod as its controller would: one of a StatefulSet that makes its
// pods in order comes when [Engine.Run] has those before it ready, if it does.
func (e *Engine) CreateInOrder(ctx context.Context, pod *v1.Pod) error {
	if e.behind(pod) != "" {
		e.ordered = append(e.ordered, pod)
		return nil
	}
	_, err := e.Create(ctx, pod)
	return err
}

// Try opens a transaction, as [cluster.Cluster.Try] does.
func (e *Engine) Try() (rollback, commit func()) {
	ordered := slices.Clone(e.ordered)
	undo, commit := e.Cluster.Try()
	return func() { undo(); e.ordered = ordered }, commit
}

// createNext creates the pods that were behind others which are ready by now.
func (e *Engine) createNext(ctx context.Context) (any bool, err error) {
	pods := e.ordered
	e.ordered = nil
	for _, pod := range pods {
		if cluster.Get[*v1.Pod](e.Cluster, pod.Namespace, pod.Name) != nil {
			continue // since a trial was undone
		}
		any = any || e.behind(pod) == ""
		if err := e.Recreate(ctx, pod); err != nil { // or be behind still
			return false, err
		}
	}
	return any, nil
}
