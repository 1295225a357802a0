package wasmhost

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// declaredEvents are the events that can help the pods of a guest that declares
// what it decides by: its own ones, as far as they change a declared field.
func (p *plugin) declaredEvents(own []fwk.ClusterEvent) (events []fwk.ClusterEventWithHint) {
	fields := p.answers.fields
	if action := actionsOn(own, fwk.Pod) & fwk.Update; action != 0 && len(fields.Pod) > 0 {
		events = append(events, fwk.ClusterEventWithHint{
			Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: action}, QueueingHintFn: p.afterPodChange,
		})
	}
	if action := actionsOn(own, fwk.Node) & nodeActions(fields.Node); action != 0 {
		// Without UpdateNodeTaint the scheduler would register that too, without a
		// hint, and so wake all pods by it.
		events = append(events, fwk.ClusterEventWithHint{
			Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: action | fwk.UpdateNodeTaint}, QueueingHintFn: p.afterNodeChange,
		})
	}
	return events
}

// actionsOn are the actions on a resource that a guest waits for.
func actionsOn(events []fwk.ClusterEvent, resource fwk.EventResource) (actions fwk.ActionType) {
	for _, event := range events {
		if event.Resource == resource || event.Resource == fwk.WildCard {
			actions |= event.ActionType
		}
	}
	return actions
}

// nodeActions are the actions on nodes by which these fields get other values.
func nodeActions(fields []abi.Field) (actions fwk.ActionType) {
	for _, field := range fields {
		actions |= fwk.Add
		switch field.Kind {
		case abi.Label:
			actions |= fwk.UpdateNodeLabel
		case abi.Annotation:
			actions |= fwk.UpdateNodeAnnotation
		}
	}
	return actions
}

// afterPodChange wakes a pod when one of its own declared fields has changed.
func (p *plugin) afterPodChange(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	before, after, err := util.As[*v1.Pod](oldObj, newObj)
	if err != nil || p.answers.off.Load() { // nobody knows what can help
		return fwk.Queue, err
	}
	if before == nil || after == nil || after.UID != pod.UID {
		return fwk.QueueSkip, nil
	}
	return queueIf(differ(p.answers.fields.Pod, &before.ObjectMeta, &after.ObjectMeta)), nil
}

// afterNodeChange wakes a pod when there is a node that it may run on, as far as
// the guest is concerned, which is new, or one of whose declared fields is.
func (p *plugin) afterNodeChange(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	before, after, err := util.As[*v1.Node](oldObj, newObj)
	if err != nil || p.answers.off.Load() {
		return fwk.Queue, err
	}
	if after == nil || before != nil && !differ(p.answers.fields.Node, &before.ObjectMeta, &after.ObjectMeta) {
		return fwk.QueueSkip, nil
	}
	return queueIf(!p.rejects(pod, after)), nil
}

func queueIf(helps bool) fwk.QueueingHint {
	if helps {
		return fwk.Queue
	}
	return fwk.QueueSkip
}

// differ reports whether one of the fields has another value.
func differ(fields []abi.Field, before, after *metav1.ObjectMeta) bool {
	for _, field := range fields {
		old, was := valueOf(field, before)
		now, is := valueOf(field, after)
		if old != now || was != is {
			return true
		}
	}
	return false
}
