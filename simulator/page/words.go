package page

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	nodeutil "k8s.io/kubernetes/pkg/util/node"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/simulator/compare/report"
	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
)

// waits reports whether a pod still needs a node.
func waits(pod *v1.Pod) bool {
	return pod.Spec.NodeName == "" && !podutil.IsPodTerminal(pod)
}

// story is what has become of a pod, in words.
type story struct {
	// Tone is one of waiting, failing, fine and quiet: the style sheet knows them.
	Tone string
	// Title is the headline; Reason says why; Aside is what is rarely of interest.
	Title, Reason, Aside string
}

// storyOf puts what is known of a pod into words.
func storyOf(pod *v1.Pod) story {
	switch {
	case pod.DeletionTimestamp != nil:
		return story{Tone: "quiet", Title: "Being deleted"}
	case pod.Spec.NodeName != "" && pod.Status.Phase == v1.PodPending:
		return story{Tone: "quiet", Title: "Starting on " + pod.Spec.NodeName}
	case pod.Spec.NodeName != "":
		return story{Tone: "fine", Title: fmt.Sprintf("%s on %s", pod.Status.Phase, pod.Spec.NodeName)}
	case !waits(pod):
		return story{Tone: "quiet", Title: string(pod.Status.Phase)}
	}
	return storyOfWaiting(pod)
}

// noClaims is what the scheduler's plugin for devices says of every pod without
// any, between the reasons and the words of preemption.
const noClaims = " no new claims to deallocate,"

func storyOfWaiting(pod *v1.Pod) story {
	condition := scheduled(pod)
	reason, aside, _ := strings.Cut(condition.Message, " preemption: ")
	reason = strings.TrimSuffix(reason, noClaims)
	if strings.Contains(reason, "annotation "+regex.Annotation+": ") || strings.Contains(reason, "annotation "+regex.ExcludeAnnotation+": ") {
		return story{Tone: "failing", Title: "Its regex cannot be used", Reason: reason, Aside: aside}
	}
	switch condition.Reason {
	case "":
		return story{Tone: "waiting", Title: "Not tried yet", Reason: unseen(pod)}
	case v1.PodReasonSchedulingGated:
		return story{Tone: "quiet", Title: "Held back by a scheduling gate", Reason: reason, Aside: aside}
	case v1.PodReasonSchedulerError:
		return story{Tone: "failing", Title: "The scheduler fails on it", Reason: reason, Aside: aside}
	}
	return story{Tone: "waiting", Title: "Fits no node", Reason: reason, Aside: aside}
}

func unseen(pod *v1.Pod) string {
	if name := pod.Spec.SchedulerName; name != v1.DefaultSchedulerName {
		return fmt.Sprintf("It asks for the scheduler %q; no scheduler of that name has looked at it.", name)
	}
	return "The scheduler has not looked at it yet."
}

// scheduled is the pod's condition PodScheduled, empty until there is one.
func scheduled(pod *v1.Pod) v1.PodCondition {
	_, condition := podutil.GetPodCondition(&pod.Status, v1.PodScheduled)
	return ptr.Deref(condition, v1.PodCondition{})
}

// Ready says whether the node takes pods.
func (n *nodeView) Ready() bool { return n.State() == "ready" }

// State is ready, or what keeps pods from the node.
func (n *nodeView) State() string {
	switch {
	case !nodeutil.IsNodeReady(n.Node):
		return "not ready"
	case n.Spec.Unschedulable:
		return "cordoned"
	}
	return "ready"
}

// postFilter is what came of a pod that no node had room for. That room is made
// for it is said only when a node was nominated, whatever the plugins answered.
func postFilter(a *recorder.Attempt) string {
	switch p := a.Preemption; {
	case p != nil && len(p.Victims) == 0:
		return "nominates node " + p.Node + "; no pod is known to have been pushed out"
	case p != nil:
		return fmt.Sprintf("makes room on node %s, now nominated: %s pushed out:", p.Node, report.Plural(len(p.Victims), "pod"))
	case a.PostFilter.Reason != "":
		return a.PostFilter.Reason
	}
	return "no node was nominated, and no pod pushed out"
}
