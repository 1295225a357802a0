package wasmhost

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// withHint narrows an event that a guest waits for to what can change its answers, by the
// fields that it declares.
func (g *guest) withHint(own fwk.ClusterEventWithHint) fwk.ClusterEventWithHint {
	own.Event = withTaints(own.Event)
	own.QueueingHintFn = func(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
		return g.afterChange(pod, oldObj, newObj), nil
	}
	return own
}

// withTaints is an event that gets a hint. The scheduler would register taints of new nodes by itself, without a hint, and so wake
// all pods by them.
func withTaints(event fwk.ClusterEvent) fwk.ClusterEvent {
	if event.Resource == fwk.Node && event.ActionType&fwk.Add != 0 {
		event.ActionType |= fwk.UpdateNodeTaint
	}
	return event
}

// afterChange wakes a pod when one of its own declared fields has another value, when a node is new or has another value in a declared field,
// unless the guest is known to keep the pod from it, or when other pods leave a node more of what the guest counts there.
func (g *guest) afterChange(pod *v1.Pod, oldObj, newObj any) fwk.QueueingHint {
	node, isNode := newObj.(*v1.Node)
	if isNode {
		before, _ := oldObj.(*v1.Node)
		if (before == nil || g.mayDiffer(before, node)) && g.mayHelp(pod, node) {
			return fwk.Queue
		}
		return fwk.QueueSkip
	}
	before, _ := oldObj.(*v1.Pod)
	after, _ := newObj.(*v1.Pod) // nil for a pod that is gone
	own := before != nil && after != nil && after.UID == pod.UID
	if own && differ(g.decidesBy.Pod, before, after, answers.PodValue) || !own && g.changesSums(before, after) {
		return fwk.Queue
	}
	return fwk.QueueSkip
}

// mayDiffer reports whether a guest may answer otherwise about a node that has changed. One
// that declares no fields of nodes, and names nodes in PreFilter, knows by itself which
// changes count.
func (g *guest) mayDiffer(before, after *v1.Node) bool {
	fields := g.decidesBy.Node
	return differ(fields, before, after, answers.NodeValue) || len(fields) == 0 && g.compiled.Active.Has(abi.PreFilter)
}

// differ reports whether one of the fields has another value.
func differ[T any](fields []abi.Field, before, after T, valueOf func(abi.Field, T) (string, bool)) bool {
	for _, field := range fields {
		old, was := valueOf(field, before)
		now, is := valueOf(field, after)
		if old != now || was != is {
			return true
		}
	}
	return false
}

// podChange is a change of a pod on a node, and whether it changes sums.
type podChange struct {
	before, after *v1.Pod // nil where there is none
	changesSums   bool
}

// changesSums reports whether a pod on a node leaves less there than before of what the guest counts. For a guest that names its events,
// more counts as well: it may look for nodes with pods. The scheduler asks once for each pending pod, so the last answer is kept.
func (g *guest) changesSums(before, after *v1.Pod) bool {
	if !g.countsPods {
		return false
	}
	last := g.lastChange.Load()
	if last != nil && last.before == before && last.after == after {
		return last.changesSums
	}
	change := &podChange{before: before, after: after}
	for _, field := range g.decidesBy.Node {
		if field.DependsOnPods() {
			was, is := countedOf(field, before), countedOf(field, after)
			change.changesSums = change.changesSums || is < was || is > was && g.compiled.Active.Has(abi.Enqueue)
		}
	}
	g.lastChange.Store(change)
	return change.changesSums
}

// countedOf is what a pod adds to a field of its node, or of the node that it is nominated for.
func countedOf(field abi.Field, pod *v1.Pod) int64 {
	switch {
	case pod == nil || pod.Spec.NodeName == "" && pod.Status.NominatedNodeName == "":
		return 0
	case field.Kind == abi.Pods:
		return 1
	}
	return answers.Amount(answers.Requests(pod), field.Key)
}

// mayHelp reports whether a node may help a pod: whether the guest is not known to keep the pod
// from the node. The scheduler asks for hints with its queue locked, once for each pending pod, so
// the guest itself is not asked.
func (g *guest) mayHelp(pod *v1.Pod, node *v1.Node) bool {
	if g.countsPods && !g.compiled.Active.Has(abi.PreFilter) {
		return true // no answer is known whatever pods are there
	}
	kind := g.answers.Peek(pod)
	if kind == nil {
		return true
	}
	if g.compiled.Active.Has(abi.PreFilter) {
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
	v := g.compiled.Constants[abi.Filter]
	if g.compiled.Active.Has(abi.Filter) {
		var ok bool
		if v, ok = kind.Filter(node); !ok {
			return true
		}
	}
	return !statusOf(abi.Filter, v).IsRejected()
}
