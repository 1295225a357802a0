package kubectl

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
)

// judge finds the verdict and what would help. It asks in this order, since no scheduler
// tries a pod with a gate, whatever its pattern is.
func (e *explanation) judge(pod *v1.Pod, seen *surroundings) {
	switch {
	case pod.DeletionTimestamp != nil:
		e.Verdict = "it is being deleted, so no scheduler tries it any more"
		if len(pod.Finalizers) > 0 {
			e.Verdict += "; its finalizers keep it: " + strings.Join(pod.Finalizers, ", ")
		}
		return
	case e.Node != "":
		e.judgeScheduled(pod)
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
	case e.noNodes:
		e.Verdict = "it is pending; the scheduler's message has the reason"
		return
	case len(e.Matches) == 0:
		e.judgeMismatch(seen.nodes)
		return
	default:
		e.Verdict = "it is pending though the pattern matches " + some(e.Matches) + "; the scheduler's message has the reason"
		e.help("every plugin's verdict: %s", cli.Shell([]string{"simulator", "why", e.Pod, "-n", e.Namespace, "--kubeconfig", "FILE"}))
		return
	}
	// The pattern has not been tried yet.
	if e.Problem != "" {
		e.help("fix the pattern, too: the scheduler will refuse it: %s", e.annotate(e.decides))
	} else if len(e.Matches) == 0 && !e.noNodes {
		e.help("change the pattern, too: no node's name matches: %s", e.annotate(e.decides))
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
func (e *explanation) judgeScheduled(pod *v1.Pod) {
	created := createdWithNode(pod)
	e.Verdict = "it is on " + e.Node
	if created {
		e.Verdict = "it was created with spec.nodeName " + e.Node + ", so no scheduler tried it"
	}
	matches := slices.Contains(e.Matches, e.Node)
	switch {
	case e.Problem != "":
		e.Verdict += "; the pattern is invalid"
	case matches:
		e.Verdict += "; the name matches"
	default:
		e.Verdict += "; the name does not match"
	}
	switch {
	case created && !matches:
		e.help("recreate the pod without spec.nodeName")
	case !matches:
		e.help("if the scheduler %s does not read the annotation, set spec.schedulerName to that of one that does, such as custom-scheduler of regex-scheduling's manifests", pod.Spec.SchedulerName)
		e.help("if the annotation was changed after the pod was scheduled, recreate the pod")
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
	e.help("set spec.schedulerName to that of a scheduler that runs (by kubectl replace --force), or start one with a profile %s%s", scheduler, scheduled)
}

// judgeMismatch is judge for a pod whose patterns leave no node. It looks for near misses.
func (e *explanation) judgeMismatch(nodes []*v1.Node) {
	e.Verdict = "it is pending: no node's name matches"
	pattern, ok := e.Patterns[e.policy.Annotation]
	if !ok {
		e.help("its exclude annotation matches every name: %s", e.annotate(e.decides))
		return
	}
	names := namesOf(nodes)
	alone, err := e.policy.Compile(map[string]string{e.policy.Annotation: pattern})
	if err == nil && len(matching(&alone, names)) > 0 {
		e.Verdict = "it is pending: the pattern matches " + some(matching(&alone, names)) + ", and all of them are excluded"
		e.help("exclude fewer nodes: %s", e.annotate(e.policy.ExcludeAnnotation))
		e.help("or let the pattern match other nodes: %s", e.annotate(e.policy.Annotation))
		return
	}
	inAnyCase := maps.Clone(e.Patterns)
	inAnyCase[e.policy.Annotation] = "(?i)" + pattern
	rules, err := e.policy.Compile(inAnyCase)
	if err == nil && len(matching(&rules, names)) > 0 {
		e.help("node names are in lower case: with (?i) the pattern would match %s", some(matching(&rules, names)))
	}
	e.help("change the pattern (%s) or add a node that it matches; the nodes are %s", e.annotate(e.decides), some(names))
}
