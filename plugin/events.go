package plugin

import (
	"context"
	"errors"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// EventsToRegister implements framework.EnqueueExtensions. A pod that this plugin has
// rejected may become schedulable by a new node, or by a change of its own annotations.
// The name of a node never changes.
//
// An annotation has no ActionType of its own. A change of an annotation alone arrives
// as Update, and together with a label it arrives as UpdatePodLabel. A plugin that
// registers Update gets both.
//
// UpdateNodeTaint has a hint that ignores it. The scheduler registers that event, without
// a hint, for every plugin that registers new nodes. Each such event would wake all pods.
func (p *Plugin) EventsToRegister(context.Context) ([]framework.ClusterEventWithHint, error) {
	return []framework.ClusterEventWithHint{
		{Event: framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add | framework.UpdateNodeTaint}, QueueingHintFn: p.afterNode},
		{Event: framework.ClusterEvent{Resource: minor.OwnPod, ActionType: framework.Update}, QueueingHintFn: p.afterPod},
	}, nil
}

// afterNode wakes the pods that may run on a new node. The scheduler calls it for each pending
// pod, with its queue locked. So it compiles no pattern, and wakes a pod with a pattern that is
// not in the cache.
func (p *Plugin) afterNode(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (framework.QueueingHint, error) {
	old, node, err := util.As[*v1.Node](oldObj, newObj)
	if err != nil {
		return framework.Queue, err
	}
	if old != nil || node == nil {
		return framework.QueueSkip, nil
	}
	rules, err := p.patterns.Cached(pod.Annotations)
	switch {
	case errors.Is(err, regex.ErrNotCached):
		return framework.Queue, nil
	case err != nil: // no node fixes a pattern
		return framework.QueueSkip, nil
	case rules.Judge(node.Name) != regex.Qualifies:
		return framework.QueueSkip, nil
	}
	return framework.Queue, nil
}

// afterPod wakes a pod if the pattern in one of its annotations has changed.
func (p *Plugin) afterPod(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (framework.QueueingHint, error) {
	before, after, err := util.As[*v1.Pod](oldObj, newObj)
	if err != nil {
		return framework.Queue, err
	}
	switch {
	case after == nil || after.UID != pod.UID:
		return framework.QueueSkip, nil
	case before == nil:
		return framework.Queue, nil
	}
	for _, key := range p.policy.Keys() {
		was, had := before.Annotations[key]
		is, has := after.Annotations[key]
		if had != has || was != is {
			return framework.Queue, nil
		}
	}
	return framework.QueueSkip, nil
}
