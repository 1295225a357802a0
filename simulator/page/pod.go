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
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	nodeutil "k8s.io/kubernetes/pkg/util/node"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/recorder"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/whatif/compare/report"
)

// matching is what a pod's regexes say of the nodes that are there now.
type matching struct {
	Pattern, Exclude *string // nil where there is none
	Nodes, Of        int
	Problem          string
	Unread           string // why the scheduler that runs does not read them
}

func regexOf(pod *v1.Pod) *string { return firstOf(pod, regex.Annotation) }

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
		m.Pattern, m.Exclude = regexOf(pod), excludeOf(pod)
		switch {
		case m.Pattern != nil:
			m.Unread = unread(scheduler, regex.Annotation, keys)
		case m.Exclude != nil:
			m.Unread = unread(scheduler, regex.ExcludeAnnotation, excluding)
		default:
			return nil
		}
		return m
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

// unread says why a scheduler does not read an annotation.
func unread(scheduler, key string, reads []string) string {
	if len(reads) == 0 {
		return fmt.Sprintf("nothing in the scheduler “%s”, as it runs now, reads a regex", scheduler)
	}
	return fmt.Sprintf("the scheduler reads %s, not %s", strings.Join(reads, " and "), key)
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

func waits(pod *v1.Pod) bool {
	return pod.Spec.NodeName == "" && !podutil.IsPodTerminal(pod)
}

// story is what has become of a pod, in words.
type story struct {
	Tone                 string // one of waiting, failing, fine and quiet: the style sheet knows them
	Title, Reason, Aside string // the headline; Reason says why; Aside is what is rarely of interest
}

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
	why := storyOfWaiting(pod)
	if group := minor.PodGroupOf(pod); group != "" {
		why.Title = "PodGroup " + pod.Namespace + "/" + group + " waits"
	}
	return why
}

// noClaims is what the scheduler's plugin for devices says of every pod without
// any, between the reasons and the words of preemption.
const noClaims = " no new claims to deallocate,"

func storyOfWaiting(pod *v1.Pod) story {
	condition := scheduled(pod)
	reason, aside, _ := strings.Cut(condition.Message, " preemption: ")
	reason = strings.TrimSuffix(strings.TrimSuffix(reason, noClaims), ", pod group")
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
	if minor.PodGroupOf(pod) != "" {
		return "The scheduler looks at no pod of it before it is there and has as many pods as its minCount."
	}
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
	case p != nil && a.PodGroup != nil:
		return fmt.Sprintf("makes room for its PodGroup: %s pushed out:", report.Plural(len(p.Victims), "pod"))
	case p != nil && len(p.Victims) == 0:
		return "nominates node " + p.Node + "; no pod is known to have been pushed out"
	case p != nil:
		return fmt.Sprintf("makes room on node %s, now nominated: %s pushed out:", p.Node, report.Plural(len(p.Victims), "pod"))
	case a.PostFilter.Reason != "":
		return a.PostFilter.Reason
	}
	return "no node was nominated, and no pod pushed out"
}
