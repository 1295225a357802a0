package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// pod shows the state of a pod and its attempts. Of a deleted pod it shows what the recorder
// still has.
func (p *page) pod(w http.ResponseWriter, r *http.Request) error {
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	attempts := p.sim.Recorder().Attempts(namespace, name)
	data := map[string]any{"Namespace": namespace, "Name": name, "Attempts": attemptViews(attempts), "Events": p.happened("Pod", namespace, name)}
	pod, err := p.sim.Informers().Core().V1().Pods().Lister().Pods(namespace).Get(name)
	switch {
	case err == nil:
		data["Pod"] = &podView{pod, p.cluster.stateOf(pod)}
		data["Matching"], err = p.cluster.match(schedulerOf(pod), (&podView{Pod: pod}).annotation)
		if err != nil {
			return err
		}
		last := p.cluster.lastAttempt(pod)
		if last != nil && isPending(pod) {
			data["Short"] = last.Shortages
		}
		data["Pending"] = isPending(pod) && pod.DeletionTimestamp == nil
		if len(attempts) == 0 {
			data["NoAttempt"] = p.noAttempt(r.Context(), pod)
		}
		return p.show(w, r, "pod", name, "pods", data)
	case !apierrors.IsNotFound(err):
		return err
	}
	preempted, ok := p.sim.Recorder().Preempted(namespace, name)
	if ok {
		data["Preempted"] = preempted
	} else if len(attempts) == 0 {
		return notFound("Pod " + namespace + "/" + name + " does not exist.")
	}
	return p.show(w, r, "pod-deleted", name, "pods", data)
}

// noAttempt is why no attempt for a pod is recorded.
func (p *page) noAttempt(ctx context.Context, pod *v1.Pod) string {
	if pod.Spec.NodeName == "" {
		return "No attempt is recorded. The pod’s scheduler has not tried it yet."
	}
	full, err := p.sim.Client().CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{}) // with its managed fields
	if err == nil && slices.ContainsFunc(full.ManagedFields, func(by metav1.ManagedFieldsEntry) bool {
		return by.FieldsV1 != nil && strings.Contains(by.FieldsV1.String(), `"f:nodeName"`) // which a binding does not set
	}) {
		return "This simulator did not place the pod: it was created on its node, as imported running pods are."
	}
	return "No attempt is recorded. Something else bound the pod, or newer attempts have replaced its own."
}

func attemptViews(attempts []recorder.Attempt) []attemptView {
	views := make([]attemptView, len(attempts))
	for i := range attempts {
		views[i] = attemptView{Attempt: &attempts[i], Newest: i == 0}
		if i == 0 {
			views[i].fill(url.Values{})
		}
	}
	return views
}

func (p *page) attempt(w http.ResponseWriter, r *http.Request) error {
	id, _ := strconv.ParseUint(r.PathValue("id"), 10, 64)
	attempt, ok := p.sim.Recorder().Attempt(r.PathValue("namespace"), r.PathValue("name"), id)
	if !ok {
		return notFound("This attempt is no longer recorded: newer attempts have replaced it.")
	}
	view := attemptView{Attempt: &attempt}
	view.fill(r.URL.Query())
	return p.show(w, r, "attempt-body", r.PathValue("name"), "pods", view)
}

// postFilter is the outcome of PostFilter. It reports preemption only if a node was
// nominated, whatever the plugins returned.
func postFilter(a *recorder.Attempt) string {
	switch p := a.Preemption; {
	case p != nil && a.PodGroup != nil:
		return fmt.Sprintf("preempts %s for the PodGroup:", report.Plural(len(p.Victims), "pod"))
	case p != nil && len(p.Victims) == 0:
		return "nominates node " + p.Node + "; no preempted pod is known"
	case p != nil:
		return fmt.Sprintf("nominates node %s and preempts %s:", p.Node, report.Plural(len(p.Victims), "pod"))
	case a.PostFilter.Reason != "":
		return a.PostFilter.Reason
	}
	return "no node nominated, no pod preempted"
}

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
func (c *cluster) stateOf(pod *v1.Pod) podState {
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
	state := pendingState(pod, c.lastAttempt(pod))
	_, err := c.compiled.Compile(pod.Annotations)
	var wrong *regex.PatternError
	if errors.As(err, &wrong) && strings.Contains(state.Reason, wrong.Problem) {
		state.Tone, state.Title = "failing", "Invalid regex"
	}
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
func pendingState(pod *v1.Pod, last *recorder.Attempt) podState {
	condition := scheduledCondition(pod)
	state := podState{Tone: "pending", Title: "Unschedulable", Reason: condition.Message, Cause: condition.Message}
	if last != nil {
		state.Reason, state.Cause = last.Reason(metav1.GetControllerOf(pod))
	}
	switch {
	case condition.Reason == v1.PodReasonSchedulingGated:
		state.Tone, state.Title = "quiet", "Scheduling gated"
	case last == nil && condition.Reason == "":
		state.Title, state.Reason = "No scheduling attempt yet", whyNoAttempt(pod)
		state.Cause = state.Reason
	case last != nil && last.Result == recorder.Failed, last == nil && condition.Reason == v1.PodReasonSchedulerError:
		state.Tone, state.Title = "failing", "Scheduler error"
	}
	return state
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

func schedulerOf(pod *v1.Pod) string { return cmp.Or(pod.Spec.SchedulerName, v1.DefaultSchedulerName) }
