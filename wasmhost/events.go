package wasmhost

import (
	"context"
	"fmt"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// eventsOf asks a guest for the events that may help its pods. A trap there
// makes the upstream host panic.
//
// A guest can't give hints. Without any, the scheduler's own note in a pod's
// status, that it found no node, would count as an update of the pod and have it
// tried again at once, with its backoff doubled. So updates of pods get a hint.
func eventsOf(ctx context.Context, pl framework.Plugin) (events []framework.ClusterEventWithHint, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("wasm: enqueue error: %v", reason)
		}
	}()
	registered, err := pl.(framework.EnqueueExtensions).EventsToRegister(ctx)
	for _, event := range registered {
		if event.Event.Resource == framework.Pod && event.QueueingHintFn == nil {
			event.QueueingHintFn = unlessItsStatus
		}
		events = append(events, event)
	}
	return events, err
}

// unlessItsStatus wakes a pod by all events of pods but a change of its own
// status alone, which the scheduler ignores too where it works without hints.
func unlessItsStatus(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (framework.QueueingHint, error) {
	before, after, err := util.As[*v1.Pod](oldObj, newObj)
	if err != nil {
		return framework.Queue, err
	}
	if before == nil || after == nil || after.UID != pod.UID || !reflect.DeepEqual(substance(before), substance(after)) {
		return framework.Queue, nil
	}
	return framework.QueueSkip, nil
}

// substance is a pod without what no scheduling depends on, as isPodUpdated in
// the scheduler's queue sees it.
func substance(pod *v1.Pod) v1.Pod {
	s := *pod
	s.ResourceVersion, s.Generation, s.ManagedFields, s.Finalizers = "", 0, nil, nil
	s.Status = v1.PodStatus{ResourceClaimStatuses: pod.Status.ResourceClaimStatuses}
	return s
}
