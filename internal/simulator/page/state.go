package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// podView is a pod and its state.
type podView struct {
	*v1.Pod
	State podState
}

// podState says in words where a pod is, or why it is pending.
type podState struct {
	Tone   string // pending, failing, fine or quiet: the stylesheet knows them
	Title  string // in text, its node stands after it
	Reason string // why the pod is pending
	Cause  string // Reason without what differs from one pod to the next
}

// text is Title and Cause: what the pods of a group have in common.
func (s podState) text() string { return s.Title + ": " + s.Cause + "." }

// isPending reports whether a pod needs a node and has none.
func isPending(pod *v1.Pod) bool { return pod.Spec.NodeName == "" && !podutil.IsPodTerminal(pod) }

// stateOf takes the reason from the last attempt that the recorder has for a pod, and from
// the pod itself if there is none.
func (c *cluster) stateOf(pod *v1.Pod, known map[string][2][]string) podState {
	switch {
	case pod.DeletionTimestamp != nil:
		return podState{Tone: "quiet", Title: "Terminating"}
	case pod.Spec.NodeName != "" && pod.Status.Phase == v1.PodPending:
		return podState{Tone: "quiet", Title: "Starting"}
	case pod.Spec.NodeName != "":
		return podState{Tone: "fine", Title: string(pod.Status.Phase)}
	case !isPending(pod):
		return podState{Tone: "quiet", Title: string(pod.Status.Phase)}
	}
	_, invalid := c.compiled.Select(c.patterns(pod, known))
	state := pendingState(pod, c.lastAttempt(pod), invalid != nil)
	group := minor.PodGroupOf(pod)
	if group != "" {
		state.Title, state.Cause = "PodGroup "+pod.Namespace+"/"+group+" is pending", ""
	}
	return state
}

// lastAttempt is the last one that has ended, or nil.
func (c *cluster) lastAttempt(pod *v1.Pod) *recorder.Attempt {
	last, ok := c.sim.Recorder().Latest(pod.Namespace, pod.Name)
	if !ok || last.UID != string(pod.UID) {
		return nil
	}
	return &last
}

// pendingState is the state of a pending pod, by its last attempt, or nil.
func pendingState(pod *v1.Pod, last *recorder.Attempt, invalidRegex bool) podState {
	condition := scheduledCondition(pod)
	state := podState{Tone: "pending", Title: "Unschedulable", Reason: condition.Message, Cause: condition.Message}
	if last != nil {
		state.Reason, state.Cause = reasonOf(last, metav1.GetControllerOf(pod))
	}
	switch {
	case condition.Reason == v1.PodReasonSchedulingGated:
		state.Tone, state.Title = "quiet", "Scheduling gated"
	case last == nil && condition.Reason == "":
		state.Title, state.Reason = "No scheduling attempt yet", whyNoAttempt(pod)
		state.Cause = state.Reason
	case invalidRegex:
		state.Tone, state.Title = "failing", "Invalid regex"
	case last != nil && last.Result == recorder.Failed, last == nil && condition.Reason == v1.PodReasonSchedulerError:
		state.Tone, state.Title = "failing", "Scheduler error"
	}
	return state
}

// reasonOf is why an attempt has found no node. The cause is the reason without the numbers of
// nodes. If a plugin has rejected the pod itself, for example for a missing claim, the reason may
// name what only this pod has: the cause is then the plugin and the workload.
func reasonOf(a *recorder.Attempt, workload *metav1.OwnerReference) (reason, cause string) {
	nodes := map[string]int{} // by reason
	for _, g := range a.Causes() {
		nodes[g.Reason] += g.Len()
	}
	if a.Result != recorder.Unschedulable || a.Node != "" || a.Fits != "" || len(nodes) == 0 {
		return a.Message, a.Message
	}
	causes := slices.Sorted(maps.Keys(nodes))
	cause = strings.Join(causes, "; ")
	by := a.RejectedItself()
	if by != nil && workload != nil {
		cause = by.Plugin + " rejects pods of " + workload.Kind + " " + workload.Name
	}
	if by != nil {
		return by.Reason, cause
	}
	slices.SortStableFunc(causes, func(a, b string) int { return nodes[b] - nodes[a] })
	for i, one := range causes {
		causes[i] = fmt.Sprintf("%d %s", nodes[one], one)
	}
	return fmt.Sprintf("0/%d nodes are available: %s.", a.Total, strings.Join(causes, "; ")), cause
}

func whyNoAttempt(pod *v1.Pod) string {
	if minor.PodGroupOf(pod) != "" {
		return "The scheduler waits until the PodGroup exists and has as many pods as its minCount."
	}
	name := pod.Spec.SchedulerName
	if name != v1.DefaultSchedulerName {
		return fmt.Sprintf("The pod names the scheduler %q, which has not tried it.", name)
	}
	return "The scheduler has not tried it yet."
}

// scheduledCondition is the pod's condition PodScheduled, empty until there is one.
func scheduledCondition(pod *v1.Pod) v1.PodCondition {
	_, condition := podutil.GetPodCondition(&pod.Status, v1.PodScheduled)
	return ptr.Deref(condition, v1.PodCondition{})
}

// Regex is the pod's annotation with that name, or nil.
func (p *podView) Regex() *string { return p.annotation(regex.Annotation) }

// Exclude is the pod's annotation for the nodes to exclude, or nil.
func (p *podView) Exclude() *string { return p.annotation(regex.ExcludeAnnotation) }

func (p *podView) annotation(key string) *string {
	value, ok := p.Annotations[key]
	if !ok {
		return nil
	}
	return &value
}

// Requests are what the pod requests of a node, by resource.
func (p *podView) Requests() map[string]string {
	requests := map[string]string{}
	for name, quantity := range resource.PodRequests(p.Pod, resource.PodResourcesOptions{}) {
		requests[string(name)] = quantity.String()
	}
	return requests
}

// URL is the address of the pod's page.
func (p *podView) URL() string { return podURL(p.Namespace, p.Name) }

type owner struct{ Kind, Key, Namespace, Name string }

// Owner is the controller of a pod, or nil. Key is empty if the page has no form for it.
func (p *podView) Owner() *owner {
	ref := metav1.GetControllerOf(p.Pod)
	if ref == nil {
		return nil
	}
	k, _ := kindOf(strings.ToLower(ref.Kind))
	return &owner{Kind: ref.Kind, Key: k.Key(), Namespace: p.Namespace, Name: ref.Name}
}

// patterns returns the two patterns that a pod's scheduler reads. The annotations of a scheduler
// take a decoding of its configuration: they stay in known.
func (c *cluster) patterns(pod *v1.Pod, known map[string][2][]string) (pattern, exclude *string) {
	name := schedulerOf(pod)
	keys, ok := known[name]
	if !ok {
		keys[0], keys[1] = c.sim.Annotations(name)
		known[name] = keys
	}
	get := (&podView{Pod: pod}).annotation
	return first(get, keys[0]), first(get, keys[1])
}

func schedulerOf(pod *v1.Pod) string { return cmp.Or(pod.Spec.SchedulerName, v1.DefaultSchedulerName) }
