package page

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
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
		data["Pod"] = &podView{pod, p.cluster.stateOf(pod, map[string][2][]string{})}
		data["Matching"], err = p.cluster.match(schedulerOf(pod), (&podView{Pod: pod}).annotation)
		if err != nil {
			return err
		}
		last := p.cluster.lastAttempt(pod)
		if last != nil && isPending(pod) {
			data["Short"] = last.Shortages
		}
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
