package engine

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// States of a pod.
const (
	Scheduled     = "Scheduled"     // it has a node that the scheduler gave it
	Unschedulable = "Unschedulable" // no node would do
	Failed        = "Error"         // something went wrong each time that it was tried
	Stayed        = "Stayed"        // it had a node, and still has
	Preempted     = "Preempted"     // it was deleted to make room
	Gone          = "Gone"          // it is not there
	Rejected      = "Rejected"      // its kubelet rejected it
	// NotAsked: no profile has the pod's schedulerName, or it is not to be scheduled yet.
	NotAsked = "NotAsked"
)

// Outcome is the outcome of a pod.
type Outcome struct {
	Node     string
	State    string
	Message  string // that of the last attempt, if the pod has no node
	Attempts int    // how often the scheduler tried
	// Feasible is how many nodes the scheduler found feasible, of the ones that it looked at, when
	// it gave the pod its node: it had no choice if this is 1. It is 0 if it did not give it
	// one, or by preemption.
	Feasible    int
	PreemptedBy types.NamespacedName // if its State is Preempted
	Preempted   []types.NamespacedName
}

// preemption says which pod made room for which other.
type preemption struct {
	of types.UID
	by types.NamespacedName
}

func (e *Engine) outcome(pod types.NamespacedName) *Outcome {
	o := e.outcomes[pod]
	if o == nil {
		o = &Outcome{}
		e.outcomes[pod] = o
	}
	return o
}

// Outcome is a pod's outcome by now.
func (e *Engine) Outcome(name types.NamespacedName) Outcome {
	o := Outcome{State: NotAsked}
	known := e.outcomes[name]
	if known != nil {
		o = *known
	}
	pod := cluster.Get[*v1.Pod](e.Cluster, name.Namespace, name.Name)
	switch by, evicted := e.evicted[name]; {
	case pod == nil && evicted:
		o.State, o.Node, o.PreemptedBy = Preempted, "", by.by
	case pod == nil:
		o.State, o.Node = Gone, ""
	case pod.Status.Phase == v1.PodFailed && pod.DeletionTimestamp == nil:
		o.State, o.Message = Rejected, "the kubelet of "+pod.Spec.NodeName+" rejects it: "+pod.Status.Reason+": "+pod.Status.Message
	case pod.Spec.NodeName != "":
		o.Node, o.Message = pod.Spec.NodeName, ""
		if o.State != Scheduled {
			o.State = Stayed
		}
	case o.Attempts == 0 || o.State == Scheduled: // or it was before it was undone
		o.State, o.Node, o.Message = NotAsked, "", e.notAsked(pod)
	default:
		o.Node = "" // that it had before it was undone
	}
	if e.groups != nil && o.Message != "" {
		attempts := e.groups.Attempts(name.Namespace, name.Name)
		if len(attempts) > 0 {
			o.Message = attempts[0].Message + attempts[0].PodGroup.Note()
		}
	}
	return o
}

func (e *Engine) notAsked(pod *v1.Pod) string {
	if len(pod.Spec.SchedulingGates) > 0 {
		return "it has scheduling gates"
	}
	group := minor.PodGroupOf(pod)
	if group != "" {
		return "PodGroup " + group + " is not there, or has fewer pods than its minCount"
	}
	profile := e.Scheduler.Profiles[pod.Spec.SchedulerName]
	if profile == nil {
		return "no profile is called " + pod.Spec.SchedulerName + ": what its own scheduler does is not known"
	}
	for _, plugin := range profile.PreEnqueuePlugins() { // which the queue asks without a report
		status := plugin.PreEnqueue(context.Background(), pod)
		if !status.IsSuccess() {
			return plugin.Name() + " keeps it out of the queue: " + status.Message()
		}
	}
	return "the scheduler has not tried it"
}

// recorded takes the events of a scheduler: of them only two say what nothing else does.
type recorded struct{ *Engine }

func (e *Engine) recordEvents(string) minor.EventRecorder { return recorded{e} }

// WithLogger implements events.EventRecorderLogger.
func (r recorded) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

// Eventf implements events.EventRecorder.
func (r recorded) Eventf(regarding, related runtime.Object, _, reason, _, _ string, _ ...any) {
	victim, _ := regarding.(*v1.Pod)
	if reason == "BindingConditionsPending" && victim != nil {
		r.awaitsDevice(victim.UID)
	}
	by, _ := related.(interface {
		GetNamespace() string
		GetName() string
	})
	if reason != "Preempted" || victim == nil || by == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name := types.NamespacedName{Namespace: by.GetNamespace(), Name: by.GetName()}
	r.evicted[cluster.NameOf(victim)] = preemption{victim.UID, name}
	o := r.outcome(name)
	o.Preempted = append(slices.Clone(o.Preempted), cluster.NameOf(victim))
	r.progress++
}
