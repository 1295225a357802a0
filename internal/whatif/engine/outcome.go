package engine

import (
	"context"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/scheduling"
)

// Outcome is the outcome of a pod. Its state is one of these, or one of [scheduling.Scheduled], Unschedulable and Failed.
type Outcome = scheduling.Outcome

// States of a pod.
const (
	Stayed    = "Stayed"    // it had a node, and still has
	Preempted = "Preempted" // it was deleted to make room
	Gone      = "Gone"      // it is not there
	Rejected  = "Rejected"  // its kubelet rejected it
	// NotAsked: no profile has the pod's schedulerName, or it is not to be scheduled yet.
	NotAsked = "NotAsked"
)

// Outcome is a pod's outcome by now.
func (e *Engine) Outcome(name types.NamespacedName) Outcome {
	o, attempted := e.Scheduler.Attempts.Of(name)
	if !attempted {
		o.State = NotAsked
	}
	against := o.Against
	o.Against = scheduling.Against{}
	pod := cluster.Get[*v1.Pod](e.Cluster, name.Namespace, name.Name)
	preemption, preempted := e.Scheduler.Attempts.Preemption(name)
	switch {
	case pod == nil && preempted:
		o.State, o.Node, o.PreemptedBy = Preempted, "", preemption.By
	case pod == nil:
		o.State, o.Node = Gone, ""
	case pod.Status.Phase == v1.PodFailed && pod.DeletionTimestamp == nil:
		o.State, o.Message = Rejected, "the kubelet of "+pod.Spec.NodeName+" rejects it: "+pod.Status.Reason+": "+pod.Status.Message
	case pod.Spec.NodeName != "":
		o.Node, o.Message = pod.Spec.NodeName, ""
		if o.State != scheduling.Scheduled {
			o.State = Stayed
		}
	case o.Attempts == 0 || o.State == scheduling.Scheduled: // before a rollback
		o.State, o.Node, o.Message = NotAsked, "", e.notAsked(pod)
	default:
		o.Node = "" // of before a rollback
		o.Against = against
	}
	if e.groups != nil && o.Message != "" {
		attempts := e.groups.Attempts(name.Namespace, name.Name)
		if len(attempts) > 0 {
			o.Message = attempts[0].Message + attempts[0].PodGroup.Note()
		}
	}
	return o
}

// notAsked is why the scheduler has not tried a pod.
func (e *Engine) notAsked(pod *v1.Pod) string {
	if len(pod.Spec.SchedulingGates) > 0 {
		return "it has scheduling gates"
	}
	group := minor.PodGroupOf(pod)
	if group != "" {
		return "PodGroup " + group + " is not there, or has fewer pods than its minCount"
	}
	profile := e.Scheduler.Kube.Profiles[pod.Spec.SchedulerName]
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

// whyNotRunning is why a pod was not running until now.
func (e *Engine) whyNotRunning(pod *v1.Pod) string {
	held := e.Cluster.NotStarted(pod)
	if held != "" {
		return held
	}
	o, _ := e.Scheduler.Attempts.Of(cluster.NameOf(pod))
	return strings.Join(strings.Fields(o.Message), " ")
}
