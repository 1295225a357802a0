package kubectl

import (
	"encoding/json"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// judge finds the verdict and what would help. It asks in this order, since no scheduler
// tries a pod with a gate, whatever its pattern is.
func (e *explanation) judge(policy regex.Policy, pod *v1.Pod, seen *surroundings) {
	switch {
	case pod.DeletionTimestamp != nil:
		e.judgeDeleted(pod)
		return
	case e.Node != "":
		e.judgeScheduled(pod, seen)
		return
	case len(pod.Spec.SchedulingGates) > 0:
		e.Verdict = "it is pending: no scheduler tries it until its scheduling gate " + pod.Spec.SchedulingGates[0].Name + " is removed"
		e.help("find out why what set the gate has not removed it")
	case e.Scheduler == "":
		e.judgeUnseen(pod, seen)
	case e.Problem != "":
		e.Verdict = "it is pending: the scheduler refuses the pattern"
		e.help("fix the pattern: %s; the scheduler then tries the pod again", e.annotate(e.decides))
		return
	case len(e.Matches) == 0:
		e.judgeMismatch(policy, seen.nodes)
		return
	default:
		e.Verdict = "it is pending though the pattern matches " + some(e.Matches) + "; the scheduler's message has the reason"
		e.help("every plugin's verdict: simulator why %s -n %s --kubeconfig FILE", e.Pod, e.Namespace)
		return
	}
	// The pattern has not been tried yet.
	if e.Problem != "" {
		e.help("fix the pattern, too: the scheduler will refuse it: %s", e.annotate(e.decides))
	} else if len(e.Matches) == 0 {
		e.help("change the pattern, too: no node's name matches: %s", e.annotate(e.decides))
	}
}

func (e *explanation) judgeDeleted(pod *v1.Pod) {
	e.Verdict = "it is being deleted, so no scheduler tries it any more"
	if len(pod.Finalizers) > 0 {
		e.Verdict += "; its finalizers keep it: " + strings.Join(pod.Finalizers, ", ")
		e.help("find out why what set the finalizers has not removed them")
	} else if e.Node != "" {
		e.Verdict += "; the kubelet of " + e.Node + " stops its containers"
		e.help("if %s is gone for good, kubectl delete pod %s -n %s --force", e.Node, e.Pod, e.Namespace)
	}
}

// createdWithNode reports whether a pod has named its node since it was created. No field
// manager owns the node that a scheduler sets.
func createdWithNode(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.ManagedFields, func(by metav1.ManagedFieldsEntry) bool {
		var fields struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		written, err := json.Marshal(by.FieldsV1)
		return err == nil && json.Unmarshal(written, &fields) == nil && fields.Spec["f:nodeName"] != nil
	})
}

// judgeScheduled is judge for a pod that has a node.
func (e *explanation) judgeScheduled(pod *v1.Pod, seen *surroundings) {
	created, matches := createdWithNode(pod), slices.Contains(e.Matches, e.Node)
	is := "it is on " + e.Node
	if created {
		is = "it was created with spec.nodeName " + e.Node + ", so no scheduler tried it"
	}
	switch {
	case created && !slices.Contains(namesOf(seen.nodes), e.Node):
		e.Verdict = is + "; this node does not exist"
	case created && e.Problem != "":
		e.Verdict = is + "; a scheduler would refuse the pattern"
	case created && matches:
		e.Verdict = is + "; the name matches anyway"
	case created:
		e.Verdict = is + "; the name does not match"
	case e.Problem != "":
		e.Verdict = is + ", though the pattern is invalid: it was changed later, or the pod's scheduler does not read the annotation"
	case matches:
		e.Verdict = is + ", whose name matches"
	default:
		e.Verdict = is + ", whose name does not match: the annotation was changed later, or the scheduler " +
			pod.Spec.SchedulerName + " does not read it"
		e.help("recreate the pod, so that it is scheduled again")
	}
	if created && !matches {
		e.help("recreate the pod without spec.nodeName")
	}
}

// judgeUnseen is judge for a pod that no scheduler has reported on.
func (e *explanation) judgeUnseen(pod *v1.Pod, seen *surroundings) {
	scheduler := pod.Spec.SchedulerName
	others := seen.schedulers()
	if len(pod.Spec.ResourceClaims) > 0 {
		e.help("check that its ResourceClaims exist: no scheduler tries it before")
	}
	if slices.Contains(others, scheduler) {
		e.Verdict = "it is pending: its scheduler " + scheduler + ", which has scheduled other pods, has not reported on it yet"
		e.help("check that this scheduler runs, and look for the pod in its log")
		return
	}
	e.Verdict = "it is pending, and no scheduler has reported on it: is there one with the schedulerName " + scheduler + "?"
	scheduled := ""
	if len(others) > 0 {
		scheduled = "; other pods were scheduled by " + some(others)
	}
	e.help("start a scheduler with a profile %s, or recreate the pod with the schedulerName of one that runs%s", scheduler, scheduled)
}

// judgeMismatch is judge for a pod whose patterns leave no node. It looks for near misses.
func (e *explanation) judgeMismatch(policy regex.Policy, nodes []*v1.Node) {
	e.Verdict = "it is pending: no node's name matches"
	if e.Pattern == nil {
		e.help("its exclude annotation matches every name: %s", e.annotate(e.decides))
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
	matches := leave("(?i)"+*e.Pattern, e.Exclude)
	if len(matches) > 0 {
		e.help("node names are in lower case: with (?i) the pattern would match %s", some(matches))
	}
	e.help("change the pattern (%s) or add a node that it matches; the nodes are %s", e.annotate(e.decides), some(names))
}
