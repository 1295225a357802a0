package wasmhost

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// declaredEvents are the events that wake the pods of a guest that declares what it
// decides by: those of its own events that can change a declared field.
func (p *plugin) declaredEvents(own []fwk.ClusterEvent) (events []fwk.ClusterEventWithHint) {
	fields := p.answers.fields
	if action := actionsOn(own, fwk.Pod) & fwk.Update; action != 0 && len(fields.Pod) > 0 {
		events = append(events, fwk.ClusterEventWithHint{
			Event: fwk.ClusterEvent{Resource: minor.OwnPod, ActionType: action}, QueueingHintFn: p.afterPodChange,
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
	if err != nil || p.answers.off.Load() { // it is not known what can help
		return fwk.Queue, err
	}
	if before == nil || after == nil || after.UID != pod.UID || !differ(p.answers.fields.Pod, &before.ObjectMeta, &after.ObjectMeta) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// afterNodeChange wakes a pod when a node is new, or has a new value in a declared field,
// and the guest lets the pod run there.
func (p *plugin) afterNodeChange(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	before, after, err := util.As[*v1.Node](oldObj, newObj)
	if err != nil || p.answers.off.Load() {
		return fwk.Queue, err
	}
	if after == nil || before != nil && !differ(p.answers.fields.Node, &before.ObjectMeta, &after.ObjectMeta) || p.rejects(pod, after) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
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

// afterFailure is how long nothing is asked for events after a call has failed.
const afterFailure = 10 * time.Second

// rejects reports whether a guest keeps a pod from a node. It is for events, outside of
// the scheduling cycles.
//
// The scheduler's queue waits for it, once for each pod. So after a call that has failed
// it reports false for a while, and asks nothing.
func (p *plugin) rejects(pod *v1.Pod, node *v1.Node) bool {
	if time.Since(time.Unix(0, p.eventFailed.Load())) < afterFailure {
		return false
	}
	c := &cycle{pass: &pass{pod: pod}}
	c.view = nodeView{p.bindingView, node}
	if c.answers, c.nodes = p.answers.withNode(pod, node); c.answers == nil {
		return false
	}
	status, err := p.statusOn(c, node)
	if err != nil || status.Code() == fwk.Error {
		p.eventFailed.Store(time.Now().UnixNano())
	}
	return err == nil && status.IsRejected()
}

// statusOn is what a pod's cycle says of a node.
func (p *plugin) statusOn(c *cycle, node *v1.Node) (*fwk.Status, error) {
	if p.guest.Active.Has(abi.PreFilter) {
		a, err := p.recallPreFilter(c)
		status := statusOf(abi.PreFilter, a.Verdict)
		switch {
		case err != nil || !status.IsSuccess():
			return status, err
		case !a.result.AllNodes() && !a.result.NodeNames.Has(node.Name):
			return fwk.NewStatus(fwk.Unschedulable), nil
		}
	}
	v, err := p.guest.Constants[abi.Filter], error(nil)
	if p.guest.Active.Has(abi.Filter) {
		v, err = p.recall(c, abi.Filter, node)
	}
	return statusOf(abi.Filter, v), err
}
