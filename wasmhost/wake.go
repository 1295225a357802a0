package wasmhost

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/memory"
)

// declared narrows an event that a guest waits for to what can change its answers, by the
// fields that it declares.
func (h *hints) declared(own fwk.ClusterEventWithHint) fwk.ClusterEventWithHint {
	if own.Event.Resource == fwk.Node && own.Event.ActionType&fwk.Add != 0 {
		// Else the scheduler would register this by itself, without a hint, and so
		// wake all pods by it.
		own.Event.ActionType |= fwk.UpdateNodeTaint
	}
	own.QueueingHintFn = func(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
		return h.afterChange(pod, oldObj, newObj), nil
	}
	return own
}

// afterChange wakes a pod when one of its own declared fields has another value, or when
// the guest lets it run on a node that is new or has another value in a declared field.
func (h *hints) afterChange(pod *v1.Pod, oldObj, newObj any) fwk.QueueingHint {
	switch after := newObj.(type) {
	case *v1.Pod:
		before, _ := oldObj.(*v1.Pod)
		if before != nil && after.UID == pod.UID && differ(h.plugin.decidesBy.Pod, &before.ObjectMeta, &after.ObjectMeta) {
			return fwk.Queue
		}
	case *v1.Node:
		before, _ := oldObj.(*v1.Node)
		if (before == nil || h.mayDiffer(before, after)) && h.helps(pod, after) {
			return fwk.Queue
		}
	}
	return fwk.QueueSkip
}

// mayDiffer reports whether a guest may answer otherwise about a node that has changed. One
// that declares no fields of nodes, and names nodes in PreFilter, knows by itself which
// changes count.
func (h *hints) mayDiffer(before, after *v1.Node) bool {
	fields := h.plugin.decidesBy.Node
	return differ(fields, &before.ObjectMeta, &after.ObjectMeta) || len(fields) == 0 && h.plugin.guest.Active.Has(abi.PreFilter)
}

// differ reports whether one of the fields has another value.
func differ(fields []abi.Field, before, after *metav1.ObjectMeta) bool {
	for _, field := range fields {
		old, was := memory.ValueOf(field, before)
		now, is := memory.ValueOf(field, after)
		if old != now || was != is {
			return true
		}
	}
	return false
}
