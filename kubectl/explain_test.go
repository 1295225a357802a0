package kubectl

import (
	"bytes"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func node(name string, change ...func(*v1.Node)) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}}}
	for _, c := range change {
		c(n)
	}
	return n
}

// podWith is a pending pod with a pattern.
func podWith(pattern string, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", Annotations: map[string]string{key: pattern}}}
	p.Spec.SchedulerName = "mine"
	for _, c := range change {
		c(p)
	}
	return p
}

func tainted(n *v1.Node) {
	n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "gpu", Value: "a100", Effect: v1.TaintEffectNoSchedule})
}

// excluding gives a pod a pattern of nodes to exclude.
func excluding(pattern string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Annotations[regex.ExcludeAnnotation] = pattern }
}

// What a live scheduler need not be asked for; TestEveryKindOfPodGetsItsAdvice has the rest.
func TestExplain(t *testing.T) {
	seen := surroundings{
		nodes:     []*v1.Node{node("kubecon-1"), node("kubecon-2"), node("other")},
		pods:      []*v1.Pod{podWith("", on("other"))},
		scheduler: "0/3 nodes are available",
	}
	forbidden := surroundings{nodes: seen.nodes, notRead: []string{"list pods: forbidden"}}
	for name, tt := range map[string]struct {
		pod  *v1.Pod
		seen surroundings
		want []string
	}{
		"excluded": {podWith("kubecon", excluding("-1$")), seen, []string{"Exclude:  -1$", "Matches:  1 of 3 nodes: kubecon-2"}},
		"all excluded": {
			podWith("", func(p *v1.Pod) { delete(p.Annotations, key) }, excluding("")), seen,
			[]string{"Matches:  0 of 3 nodes: none", "matches every name: kubectl annotate pod p -n n --overwrite " + key + "-exclude=PATTERN"},
		},
		"a bad exclusion": {podWith("kubecon", excluding("(")), seen, []string{
			"annotation " + key + `-exclude: missing closing ): "("`, "kubectl annotate pod p -n n --overwrite " + key + "-exclude=PATTERN",
		}},
		"another case, and excluded": {podWith("KUBECON-1", excluding("-1$")), seen, []string{"To fix it:\n  - change the pattern ("}},
		"other pods cannot be read":  {podWith("other"), forbidden, []string{"no scheduler has reported on it", "Not checked:\n  - list pods: forbidden"}},
		"misspelt": {podWith("other", func(p *v1.Pod) {
			p.Annotations["scheduler.wasmkwokwizardry.io/regx"] = "x"
			p.Labels = map[string]string{key: "x"}
		}), seen, []string{"annotation scheduler.wasmkwokwizardry.io/regx: it has no effect; did you mean " + key + "?", "label " + key + ": it has no effect"}},
		"there, and bad since":        {podWith("(", on("other")), seen, []string{"it is on other; the pattern is invalid", "if the annotation was changed after the pod was scheduled, recreate the pod"}},
		"created for no node":         {podWith("other", on("gone"), created), seen, []string{"created with spec.nodeName gone, so no scheduler tried it; the name does not match"}},
		"created for it":              {podWith("other", on("other"), created), seen, []string{"created with spec.nodeName other, so no scheduler tried it; the name matches\n"}},
		"deleted before it has begun": {podWith("other", deleted), seen, []string{"no scheduler tries it any more\n"}},
		"of a ReplicaSet": {podWith("(", func(p *v1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-1", Controller: new(true)}}
		}), seen, []string{"change the pod template of ReplicaSet web-1, too"}},
		"of a Deployment": {podWith("(", func(p *v1.Pod) {
			p.Labels = map[string]string{"pod-template-hash": "65bdd65fbc"}
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-65bdd65fbc", Controller: new(true)}}
		}), seen, []string{"change the pod template of Deployment web, too"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			explain(regex.Default, tt.pod, &tt.seen).write(&out)
			testkit.Has(t, out.String(), tt.want...)
		})
	}
}

func created(p *v1.Pod) {
	fields := &metav1.FieldsV1{}
	_ = fields.UnmarshalJSON([]byte(`{"f:spec":{"f:nodeName":{}}}`))
	p.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: fields}}
}

func deleted(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{} }

func TestUsage(t *testing.T) {
	done := func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded }
	bound := func(p *v1.Pod) { p.Spec.NodeName = "kubecon-1" }
	alone := func(p *v1.Pod) { delete(p.Annotations, regex.Annotation) }
	pods := []*v1.Pod{
		podWith("kubecon", bound), podWith("kubecon"), podWith("kubecon", done), podWith("(", bound), podWith("^gpu"),
		{},
		podWith("kubecon", excluding("-1$")), podWith("", excluding("-1$"), alone), podWith("kubecon", excluding("["), bound),
	}
	var got []string
	for _, u := range usage(regex.Default, pods, []string{"kubecon-1", "kubecon-2", "other"}) {
		got = append(got, fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%s", u.Patterns[key], u.Patterns[regex.ExcludeAnnotation], u.Nodes, u.Pods, u.Pending, u.Problem))
	}
	want := []string{
		"kubecon\t\t2\t2\t1\t",
		"\t-1$\t2\t1\t1\t",
		"(\t\t0\t1\t0\tmissing closing )",
		"^gpu\t\t0\t1\t1\tmatches no node",
		"kubecon\t-1$\t1\t1\t1\t",
		"kubecon\t[\t0\t1\t0\tannotation " + regex.ExcludeAnnotation + ": missing closing ]",
	}
	testkit.Equal(t, got, want, "the usage")
}
