package wasmhost

import (
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/memory"
)

// The scheduler asks for hints with its queue locked, once for each pending pod. Where the
// guest has to be asked, that is bounded, for all pods together: further pods are woken.
const (
	// hintTime is how long hints wait for the guest, at most, in any second.
	hintTime = 50 * time.Millisecond
	// afterFailure is how long nothing is asked after a call has failed.
	afterFailure = 10 * time.Second
)

// hints are what the plugin answers about events.
type hints struct {
	plugin *plugin

	mu        sync.Mutex
	busyUntil time.Time // if no more than hintTime were allowed in each second
}

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

// helps reports whether a node may help a pod: whether the guest does not keep the pod from
// the node, as far as there is time to ask.
func (h *hints) helps(pod *v1.Pod, node *v1.Node) bool {
	about := h.plugin.answers.About(pod, nil)
	if about == nil {
		return true
	}
	rejected, known := h.rejection(about, node)
	if known {
		return !rejected
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	began := time.Now()
	if h.busyUntil.After(began.Add(time.Second)) {
		return true
	}
	rejected, known = h.ask(about, pod, node)
	end := time.Now()
	if !known {
		h.busyUntil = end.Add(time.Second + afterFailure)
		return true
	}
	if h.busyUntil.Before(end) {
		h.busyUntil = end
	}
	h.busyUntil = h.busyUntil.Add(end.Sub(began) * (time.Second / hintTime))
	return !rejected
}

// ask asks a guest whether it keeps a pod from a node. It is not known after a call that has failed.
func (h *hints) ask(about *memory.About, pod *v1.Pod, node *v1.Node) (rejected, known bool) {
	c := h.plugin.newCycle(pod)
	c.hint = true
	c.known = about
	if h.plugin.guest.Active.Has(abi.PreFilter) {
		_, _ = c.aboutPod(abi.PreFilter, abi.In{})
		rejected, known = h.rejection(about, node)
	}
	if !known && h.plugin.guest.Active.Has(abi.Filter) {
		out, err := c.call(abi.Filter, onNode(node))
		c.learn(abi.Filter, about.NumberOf(node), out.Verdict, err)
		rejected, known = h.rejection(about, node)
	}
	return rejected, known
}

// rejection reports whether a guest has answered that a pod cannot run on a node, if it is
// known.
func (h *hints) rejection(about *memory.About, node *v1.Node) (rejected, known bool) {
	if h.plugin.guest.Active.Has(abi.PreFilter) {
		a := about.Answer(abi.PreFilter)
		if a == nil {
			return false, false
		}
		status := statusOf(abi.PreFilter, a.Verdict)
		if !status.IsSuccess() {
			return status.IsRejected(), true
		}
		if !a.Result.AllNodes() && !a.Result.NodeNames.Has(node.Name) {
			return true, true
		}
	}
	v, known := h.plugin.guest.Constants[abi.Filter], true
	if h.plugin.guest.Active.Has(abi.Filter) {
		v, known = about.Get(abi.Filter, about.NumberOf(node))
	}
	return known && statusOf(abi.Filter, v).IsRejected(), known
}
