package walkthrough

import (
	"fmt"
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

// pod is a pod of the walkthrough, and what should become of it.
type pod struct {
	name           string
	regex, exclude *string // nil: no annotation

	first, finally expectation
	seen           *v1.Pod // as it was found last
}

// expectation is a verdict: on which nodes the pod may run, or why it waits.
type expectation struct {
	node    *regexp.Regexp // nil: on none
	reason  string         // of the condition PodScheduled
	message *regexp.Regexp // of that condition
}

func on(node string) expectation { return expectation{node: regexp.MustCompile("^(" + node + ")$")} }

func waits(reason, message string) expectation {
	return expectation{reason: reason, message: regexp.MustCompile(message)}
}

// pods are the pods of the walkthrough. To guest v1 an invalid regex is an error,
// on which the scheduler tries again and again; elsewhere the pod waits for another
// annotation.
func pods(door string) []*pod {
	const trailing = `annotation ` + regex.Annotation + `: trailing backslash at end of expression: "kubecon-\.\*\\"`
	invalid := waits(v1.PodReasonUnschedulable, `^0/3 nodes are available: `+trailing)
	switch door {
	case "v1":
		invalid = waits(v1.PodReasonSchedulerError, `filter plugin: `+trailing)
	case "extender", "extender-names", "extender-v2":
		invalid = waits(v1.PodReasonUnschedulable, `^0/3 nodes are available: 3 node\(s\) can't be matched: `+trailing)
	}
	const none = `^0/3 nodes are available: 3 node\(s\) didn't match the pod's node name regex "cncf-\.\*"\.`
	const excluded = `^0/[34] nodes are available: [12] node\(s\) didn't match the pod's node name regex "\^kubecon-", ` +
		`2 node\(s\) matched the pod's node name regex-exclude "-\[12\]\$"\.`
	return []*pod{
		{name: "kubecon", regex: ptr.To("kubecon-.*"), first: on("kubecon-[12]"), finally: on("kubecon-[12]")},
		{name: "cncf", regex: ptr.To("cncf-.*"), first: waits(v1.PodReasonUnschedulable, none), finally: on("cncf-1")},
		{name: "invalid", regex: ptr.To(`kubecon-.*\`), first: invalid, finally: on("kubecon-[12]")},
		{name: "elsewhere", exclude: ptr.To("^kubecon-"), first: on("node-.+"), finally: on("node-.+")},
		{
			name: "neither", regex: ptr.To("^kubecon-"), exclude: ptr.To("-[12]$"),
			first: waits(v1.PodReasonUnschedulable, excluded), finally: waits(v1.PodReasonUnschedulable, excluded),
		},
		{name: "anywhere", first: on("node-.+|kubecon-[12]"), finally: on("node-.+|kubecon-[12]")},
	}
}

// unmet is in what a pod differs from an expectation, or "" if it does not.
func (e expectation) unmet(p *v1.Pod) string {
	if e.node != nil {
		switch {
		case p.Spec.NodeName == "":
			return fmt.Sprintf("is on no node, want one that matches %s: %s", e.node, scheduled(p).Message)
		case !e.node.MatchString(p.Spec.NodeName):
			return fmt.Sprintf("is on node %s, want one that matches %s", p.Spec.NodeName, e.node)
		case p.Status.Phase != v1.PodRunning:
			return fmt.Sprintf("is on node %s and %s, want it Running", p.Spec.NodeName, p.Status.Phase)
		}
		return ""
	}
	condition := scheduled(p)
	switch {
	case p.Spec.NodeName != "":
		return fmt.Sprintf("is on node %s, want it to wait", p.Spec.NodeName)
	case condition.Reason != e.reason || !e.message.MatchString(condition.Message):
		return fmt.Sprintf("waits because of %q: %q, want %q and %q", condition.Reason, condition.Message, e.reason, e.message)
	}
	return ""
}

// scheduled is the pod's condition PodScheduled, empty until there is one.
func scheduled(p *v1.Pod) v1.PodCondition {
	_, condition := podutil.GetPodCondition(&p.Status, v1.PodScheduled)
	return ptr.Deref(condition, v1.PodCondition{})
}
