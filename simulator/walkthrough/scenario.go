package walkthrough

import (
	"regexp"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

var (
	nodes = []metav1.ObjectMeta{{GenerateName: "node-"}, {Name: "kubecon-1"}, {Name: "kubecon-2"}}
	cncf1 = metav1.ObjectMeta{Name: "cncf-1"}
)

// pod is a pod of the walkthrough, and where it should be scheduled, or why not.
type pod struct {
	name           string
	regex, exclude *string        // nil: no annotation
	want           *regexp.Regexp // of what state says of it

	seen *v1.Pod // as it was found last
}

// on is the state of a pod that runs on one of some nodes.
func on(nodes string) *regexp.Regexp { return regexp.MustCompile("^Running on (" + nodes + ")$") }

// pending is the state of a pod whose condition PodScheduled has this reason and message.
func pending(reason, message string) *regexp.Regexp {
	return regexp.MustCompile("^" + reason + ": " + message)
}

// pods are the pods of the walkthrough. To guest v1 an invalid regex is an error,
// on which the scheduler tries again and again; with other variants the pod stays
// unschedulable until its annotation changes.
func pods(variant string) []*pod {
	const trailing = `annotation ` + regex.Annotation + `: trailing backslash at end of expression: "kubecon-\.\*\\"`
	invalid := pending(v1.PodReasonUnschedulable, `0/3 nodes are available: `+trailing)
	switch variant {
	case "v1":
		invalid = pending(v1.PodReasonSchedulerError, `.*filter plugin: `+trailing)
	case "extender", "extender-names", "extender-v2":
		invalid = pending(v1.PodReasonUnschedulable, `0/3 nodes are available: 3 node\(s\) can't be matched: `+trailing)
	}
	const none = `0/3 nodes are available: 3 node\(s\) didn't match the pod's node name regex "cncf-\.\*"\.`
	const excluded = `0/[34] nodes are available: [12] node\(s\) didn't match the pod's node name regex "\^kubecon-", ` +
		`2 node\(s\) matched the pod's node name regex-exclude "-\[12\]\$"\.`
	return []*pod{
		{name: "kubecon", regex: ptr.To("kubecon-.*"), want: on("kubecon-[12]")},
		{name: "cncf", regex: ptr.To("cncf-.*"), want: pending(v1.PodReasonUnschedulable, none)},
		{name: "invalid", regex: ptr.To(`kubecon-.*\`), want: invalid},
		{name: "excluding", exclude: ptr.To("^kubecon-"), want: on("node-.+")},
		{name: "neither", regex: ptr.To("^kubecon-"), exclude: ptr.To("-[12]$"), want: pending(v1.PodReasonUnschedulable, excluded)},
		{name: "anywhere", want: on("node-.+|kubecon-[12]")},
	}
}

// state is where a pod is, or why it is pending.
func state(p *v1.Pod) string {
	if p.Spec.NodeName != "" {
		return string(p.Status.Phase) + " on " + p.Spec.NodeName
	}
	return scheduled(p).Reason + ": " + scheduled(p).Message
}

// scheduled is the pod's condition PodScheduled, empty until there is one.
func scheduled(p *v1.Pod) v1.PodCondition {
	_, condition := podutil.GetPodCondition(&p.Status, v1.PodScheduled)
	return ptr.Deref(condition, v1.PodCondition{})
}
