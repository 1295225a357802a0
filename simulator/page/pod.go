package page

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
)

// matching is what a pod's regexes say of the nodes that are there now.
type matching struct {
	Pattern, Exclude *string // nil where there is none
	Nodes, Of        int
	Problem          string
	Unread           string // why the scheduler that runs does not read them
}

// regexOf is the pattern of a pod, or nil if it has none.
func regexOf(pod *v1.Pod) *string { return firstOf(pod, regex.Annotation) }

// excludeOf is that of the nodes that it excludes.
func excludeOf(pod *v1.Pod) *string { return firstOf(pod, regex.ExcludeAnnotation) }

// firstOf is the annotation of a pod under the first of the keys that it has.
func firstOf(pod *v1.Pod, keys ...string) *string {
	for _, key := range keys {
		if pattern, ok := pod.Annotations[key]; ok {
			return &pattern
		}
	}
	return nil
}

// match says what a pod's regexes mean for the nodes that are there now, under the
// scheduler that runs. It is nil for a pod without any.
func (p *page) match(pod *v1.Pod) *matching {
	scheduler := cmp.Or(pod.Spec.SchedulerName, v1.DefaultSchedulerName)
	keys, excluding := p.sim.Annotations(scheduler)
	m := &matching{Pattern: firstOf(pod, keys...), Exclude: firstOf(pod, excluding...)}
	if m.Pattern == nil && m.Exclude == nil {
		return unread(pod, scheduler, keys, excluding)
	}
	read := map[string]string{}
	if m.Pattern != nil {
		read[regex.Annotation] = *m.Pattern
	}
	if m.Exclude != nil {
		read[regex.ExcludeAnnotation] = *m.Exclude
	}
	nodes, of, err := p.sim.Preview(read)
	m.Nodes, m.Of = len(nodes), of
	var wrong *regex.PatternError
	switch {
	case errors.As(err, &wrong) && wrong.Annotation == regex.ExcludeAnnotation && m.Pattern != nil:
		m.Problem = "what to exclude: " + wrong.Problem
	case errors.As(err, &wrong):
		m.Problem = wrong.Problem // the pattern itself is shown with it
	case err != nil:
		m.Problem = err.Error()
	}
	return m
}

// unread says why the scheduler that runs reads none of a pod's regexes. It is nil
// for a pod without any.
func unread(pod *v1.Pod, scheduler string, keys, excluding []string) *matching {
	m := &matching{Pattern: regexOf(pod), Exclude: excludeOf(pod)}
	key, reads := regex.Annotation, keys
	switch {
	case m.Pattern == nil && m.Exclude == nil:
		return nil
	case m.Pattern == nil:
		key, reads = regex.ExcludeAnnotation, excluding
	}
	if m.Unread = fmt.Sprintf("nothing in the scheduler “%s”, as it runs now, reads a regex", scheduler); len(reads) > 0 {
		m.Unread = fmt.Sprintf("the scheduler reads %s, not %s", strings.Join(reads, " and "), key)
	}
	return m
}

// pod shows what has become of a pod, and why. Of one that is gone it shows what is
// still known.
func (p *page) pod(w http.ResponseWriter, r *http.Request) error {
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	attempts := p.sim.Recorder().Attempts(namespace, name)
	pod, err := p.sim.Informers().Core().V1().Pods().Lister().Pods(namespace).Get(name)
	if err == nil {
		return p.show(w, r, "pod", name, "pods", map[string]any{
			"Pod": pod, "Story": storyOf(pod), "Regex": p.match(pod), "Attempts": attemptViews(attempts),
		})
	} else if !apierrors.IsNotFound(err) {
		return err
	}
	out, pushedOut := p.sim.Recorder().PushedOut(namespace, name)
	if len(attempts) == 0 && !pushedOut {
		return notThere("Pod " + namespace + "/" + name + " does not exist (any more).")
	}
	data := map[string]any{"Namespace": namespace, "Name": name, "Attempts": attemptViews(attempts)}
	if pushedOut {
		data["PushedOut"] = out
	}
	return p.show(w, r, "podgone", name, "pods", data)
}

// attemptViews are all of a pod's attempts, only the newest with its tables.
func attemptViews(attempts []recorder.Attempt) []attemptView {
	views := make([]attemptView, len(attempts))
	for i := range attempts {
		views[i] = attemptView{Attempt: &attempts[i], Newest: i == 0}
		if i == 0 {
			views[i].tables(url.Values{})
		}
	}
	return views
}

// attempt shows the tables of one attempt.
func (p *page) attempt(w http.ResponseWriter, r *http.Request) error {
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	id, _ := strconv.ParseUint(r.PathValue("id"), 10, 64)
	attempt, ok := p.sim.Recorder().Attempt(namespace, name, id)
	if !ok {
		return notThere("This attempt is no longer kept: newer ones took its room.")
	}
	view := attemptView{Attempt: &attempt}
	view.tables(r.URL.Query())
	return p.show(w, r, "attempt-body", name, "pods", view)
}
