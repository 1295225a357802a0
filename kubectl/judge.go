package kubectl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// judge finds the verdict and what would help. The order is that in which these decide:
// no scheduler looks at a pod with a gate, whatever its pattern is.
func (e *explanation) judge(policy regex.Policy, pod *v1.Pod, seen *surroundings) {
	switch {
	case pod.DeletionTimestamp != nil:
		e.judgeDeleted(pod)
	case e.Node != "" && createdWithNode(pod):
		e.judgeCreatedWithNode(seen)
	case e.Node != "":
		e.judgePlaced(pod)
	case len(pod.Spec.SchedulingGates) > 0:
		e.judgeGated(pod)
	case len(seen.lacks) > 0:
		e.judgeLacks(seen.lacks)
	case e.Scheduler == "":
		e.judgeUnseen(pod.Spec.SchedulerName, seen)
	case e.Problem != "":
		e.Verdict = "it is pending: the scheduler refuses the pattern"
		e.help("mend the pattern: %s; the pod is tried again at once", e.annotate(e.decides))
	case len(e.Matches) == 0:
		e.judgeMismatch(policy, seen.nodes)
	default:
		e.Obstacles = obstacles(pod, seen, e.Matches)
		e.judgeMatches()
	}
}

func (e *explanation) judgeDeleted(pod *v1.Pod) {
	e.Verdict = "it is being deleted, and no scheduler looks at it any more"
	if len(pod.Finalizers) > 0 {
		e.Verdict += "; its finalizers keep it: " + strings.Join(pod.Finalizers, ", ")
		e.help("finalizers are removed by what has set them: look there for what they wait for")
	} else if e.Node != "" {
		e.Verdict += "; the kubelet of " + e.Node + " ends its containers"
		e.help("if %s is gone for good, kubectl delete pod %s -n %s --force", e.Node, e.Pod, e.Namespace)
	}
}

// createdWithNode reports whether a pod names its node since it was created. A node
// that a scheduler gives a pod is nobody's field.
func createdWithNode(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.ManagedFields, func(by metav1.ManagedFieldsEntry) bool {
		var fields struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		written, err := json.Marshal(by.FieldsV1)
		return err == nil && json.Unmarshal(written, &fields) == nil && fields.Spec["f:nodeName"] != nil
	})
}

func (e *explanation) judgeCreatedWithNode(seen *surroundings) {
	e.Verdict = fmt.Sprintf("it was created with spec.nodeName %s, so no scheduler looked at it; ", e.Node)
	switch {
	case !slices.Contains(namesOf(seen.nodes), e.Node):
		e.Verdict += "there is no such node"
	case e.Problem != "":
		e.Verdict += "a scheduler would refuse the pattern"
	case slices.Contains(e.Matches, e.Node):
		e.Verdict += "the name matches all the same"
		return
	default:
		e.Verdict += "the name does not match"
	}
	e.help("recreate the pod without spec.nodeName")
}

// judgePlaced is judge for a pod that a scheduler has given a node.
func (e *explanation) judgePlaced(pod *v1.Pod) {
	switch {
	case e.Problem != "":
		e.Verdict = "it is on " + e.Node + ", though the pattern is refused now: it was another one, or the pod's scheduler does not read the annotation"
	case slices.Contains(e.Matches, e.Node):
		e.Verdict = "it is on " + e.Node + ", whose name matches"
	default:
		e.Verdict = "it is on " + e.Node + ", whose name does not match: the annotation came later, or the scheduler " + pod.Spec.SchedulerName + " does not read it"
		e.help("recreate the pod, so that it is scheduled again")
	}
}

func (e *explanation) judgeGated(pod *v1.Pod) {
	e.Verdict = "it is pending: no scheduler looks at it until its scheduling gate " + pod.Spec.SchedulingGates[0].Name + " is removed"
	e.help("the gate is removed by what has set it: look there for what it waits for")
	e.helpLater()
}

// helpLater is about patterns that come to nothing once a scheduler looks at them.
func (e *explanation) helpLater() {
	switch {
	case e.Problem != "":
		e.help("mend the pattern, too, which the scheduler will refuse: %s", e.annotate(e.decides))
	case len(e.Matches) == 0:
		e.help("change the pattern, too, since no node's name matches: %s", e.annotate(e.decides))
	}
}

func (e *explanation) judgeLacks(lacks []lack) {
	var problems []string
	for _, l := range lacks {
		problems = append(problems, l.what+" "+l.problem)
		e.help("%s", l.help)
	}
	e.Verdict = "it is pending: " + strings.Join(problems, ", ")
	e.helpLater()
}

// judgeUnseen is judge for a pod that no scheduler has reported on.
func (e *explanation) judgeUnseen(scheduler string, seen *surroundings) {
	others := seen.schedulers()
	if slices.Contains(others, scheduler) {
		e.Verdict = "it is pending, and its scheduler " + scheduler + ", which has scheduled other pods, has not reported on it yet"
		e.help("see whether that scheduler still runs, and in its log whether it has come to this pod")
		e.helpLater()
		return
	}
	e.Verdict = "it is pending, and no scheduler has reported on it: does one serve its schedulerName " + scheduler + "?"
	scheduled := ""
	if len(others) > 0 {
		scheduled = "; pods were scheduled by " + some(others)
	}
	e.help("start a scheduler with a profile %s, or recreate the pod with the schedulerName of one that runs%s", scheduler, scheduled)
	e.helpLater()
}

// judgeMatches is judge for a pod that is pending though nodes match.
func (e *explanation) judgeMatches() {
	blocked := map[string]bool{}
	for _, o := range e.Obstacles {
		blocked[o.Node] = true
		e.help("%s: %s", o.Node, o.Help)
	}
	if len(blocked) == len(e.Matches) {
		e.Verdict = "it is pending: nodes match, and something else rejects it on each of them"
		return
	}
	free := slices.DeleteFunc(slices.Clone(e.Matches), func(name string) bool { return blocked[name] })
	e.Verdict = "it is pending, though nothing that explain looks at rejects it on " + some(free) + "; what the scheduler says has the reason"
	e.help("mend what the scheduler names, or let the pattern match more nodes: %s", e.annotate(e.decides))
}

// judgeMismatch looks for what patterns that leave no node may have been meant to be.
func (e *explanation) judgeMismatch(policy regex.Policy, nodes []*v1.Node) {
	e.Verdict = "it is pending: no node's name matches"
	if e.Pattern == nil {
		e.help("its annotation of nodes to exclude matches every name: %s", e.annotate(e.decides))
		return
	}
	names := namesOf(nodes)
	leave := func(pattern string, exclude *string) []string {
		annotations := map[string]string{e.Annotation: pattern}
		if exclude != nil {
			annotations[e.ExcludeAnnotation] = *exclude
		}
		selector, err := policy.Selector(annotations)
		if err != nil {
			return nil
		}
		return matching(selector, names)
	}
	if matches := leave(*e.Pattern, nil); len(matches) > 0 {
		e.Verdict = "it is pending: the pattern matches " + some(matches) + ", and all of them are excluded"
		e.help("exclude fewer nodes: %s", e.annotate(e.ExcludeAnnotation))
		e.help("or let the pattern match other nodes: %s", e.annotate(e.Annotation))
		return
	}
	if matches := leave("(?i)"+*e.Pattern, e.Exclude); len(matches) > 0 {
		e.help("names of nodes are in lower case: without regard to case it would match %s", some(matches))
	}
	e.help("change the pattern (%s) or add a node that it matches; there are %s", e.annotate(e.decides), some(names))
}
