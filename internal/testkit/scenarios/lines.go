package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// Lines say of each pod where it is, or why it is pending, and why it was not evicted:
//
//	web on node-1
//	web on node-1, kept: The disruption budget web needs 1 healthy pods and has 1 currently
//	web pending: 0/1 nodes are available: 1 Insufficient cpu.
//	web SchedulerError: running "WasmRegexScheduling" filter plugin: …
//	web untouched
//
// Pods whose names are left to chance are called by their owner's name.
func Lines(pods []*v1.Pod, kept map[types.UID]string) (lines []string) {
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil || podutil.IsPodTerminal(pod) {
			continue
		}
		_, condition := podutil.GetPodCondition(&pod.Status, v1.PodScheduled)
		switch {
		case pod.Spec.NodeName != "" && kept[pod.UID] != "":
			lines = append(lines, fmt.Sprintf("%s on %s, kept: %s", Display(pod), pod.Spec.NodeName, kept[pod.UID]))
		case pod.Spec.NodeName != "":
			lines = append(lines, On(Display(pod), pod.Spec.NodeName))
		case condition == nil:
			lines = append(lines, Display(pod)+" untouched")
		case condition.Reason == v1.PodReasonUnschedulable:
			lines = append(lines, Pending(Display(pod), condition.Message))
		default:
			lines = append(lines, Display(pod)+" "+condition.Reason+": "+Plain(condition.Message))
		}
	}
	slices.Sort(lines)
	return lines
}

// On is the line of a pod that has a node.
func On(pod, node string) string { return pod + " on " + node }

// Pending is the line of a pod that has none.
func Pending(pod, message string) string { return pod + " pending: " + Plain(message) }

// Display is what a pod is called.
func Display(pod *v1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind == "StatefulSet" {
		return pod.Name
	}
	return strings.TrimSuffix(owner.Name, "-"+cmp.Or(pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey], "none"))
}

// ofEachMinor takes out what only some minors of Kubernetes say.
var ofEachMinor = strings.NewReplacer("no new claims to deallocate, ", "", "still not schedulable, ", "")

// Plain is a message in a line, as each minor says it.
func Plain(message string) string {
	return strings.Join(strings.Fields(ofEachMinor.Replace(message)), " ")
}
