package wasmhost

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// withHint narrows an event that a guest waits for to what can change its answers, by the
// fields that it declares.
func (p *plugin) withHint(own fwk.ClusterEventWithHint) fwk.ClusterEventWithHint {
	if own.Event.Resource == fwk.Node && own.Event.ActionType&fwk.Add != 0 {
		// Else the scheduler would register this by itself, without a hint, and so
		// wake all pods by it.
		own.Event.ActionType |= fwk.UpdateNodeTaint
	}
	own.QueueingHintFn = func(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
		return p.afterChange(pod, oldObj, newObj), nil
	}
	return own
}

// afterChange wakes a pod when one of its own declared fields has another value, or when a node is
// new or has another value in a declared field, unless the guest is known to keep the pod from it.
func (p *plugin) afterChange(pod *v1.Pod, oldObj, newObj any) fwk.QueueingHint {
	switch after := newObj.(type) {
	case *v1.Pod:
		before, _ := oldObj.(*v1.Pod)
		if before != nil && after.UID == pod.UID && differ(p.decidesBy.Pod, &before.ObjectMeta, &after.ObjectMeta) {
			return fwk.Queue
		}
	case *v1.Node:
		before, _ := oldObj.(*v1.Node)
		if (before == nil || p.mayDiffer(before, after)) && p.mayHelp(pod, after) {
			return fwk.Queue
		}
	}
	return fwk.QueueSkip
}

// mayDiffer reports whether a guest may answer otherwise about a node that has changed. One
// that declares no fields of nodes, and names nodes in PreFilter, knows by itself which
// changes count.
func (p *plugin) mayDiffer(before, after *v1.Node) bool {
	fields := p.decidesBy.Node
	return differ(fields, &before.ObjectMeta, &after.ObjectMeta) || len(fields) == 0 && p.guest.Active.Has(abi.PreFilter)
}

// differ reports whether one of the fields has another value.
func differ(fields []abi.Field, before, after *metav1.ObjectMeta) bool {
	for _, field := range fields {
		old, was := answers.ValueOf(field, before)
		now, is := answers.ValueOf(field, after)
		if old != now || was != is {
			return true
		}
	}
	return false
}

// mayHelp reports whether a node may help a pod: whether the guest is not known to keep the pod
// from the node. The scheduler asks for hints with its queue locked, once for each pending pod, so
// the guest itself is not asked.
func (p *plugin) mayHelp(pod *v1.Pod, node *v1.Node) bool {
	kind := p.answers.Peek(pod)
	if kind == nil {
		return true
	}
	if p.guest.Active.Has(abi.PreFilter) {
		var answer abi.Out
		if !kind.Answer(abi.PreFilter, nil).Get(&answer) {
			return true
		}
		status := statusOf(abi.PreFilter, answer.Verdict)
		if !status.IsSuccess() {
			return !status.IsRejected()
		}
		if answer.NodeNames != nil && !answer.NodeNames.Has(node.Name) {
			return false
		}
	}
	v := p.guest.Constants[abi.Filter]
	if p.guest.Active.Has(abi.Filter) {
		var ok bool
		if v, ok = kind.Filter(node); !ok {
			return true
		}
	}
	return !statusOf(abi.Filter, v).IsRejected()
}
