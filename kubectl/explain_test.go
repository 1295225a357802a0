package kubectl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func node(name string, change ...func(*v1.Node)) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}}}
	n.Status.Allocatable = resources("4", "16Gi")
	for _, c := range change {
		c(n)
	}
	return n
}

// podWith is a pod that waits, with a pattern.
func podWith(pattern string, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", Annotations: map[string]string{key: pattern}}}
	p.Spec.SchedulerName = "mine"
	for _, c := range change {
		c(p)
	}
	return p
}

func cordoned(n *v1.Node) {
	n.Spec.Unschedulable = true
	n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
}

func tainted(n *v1.Node) {
	n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "gpu", Value: "a100", Effect: v1.TaintEffectNoSchedule})
}

// asks gives a pod a container with requests.
func asks(cpu, memory string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: resources(cpu, memory)}}}
	}
}

func resources(cpu, memory string) v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory)}
}

// excluding gives a pod a pattern of nodes to exclude.
func excluding(pattern string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Annotations[regex.ExcludeAnnotation] = pattern }
}

func TestExplain(t *testing.T) {
	nodes := []*v1.Node{node("kubecon-1", cordoned), node("kubecon-2", tainted), node("other")}
	on := func(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }
	for name, tt := range map[string]struct {
		pod  *v1.Pod
		want []string
	}{
		"no annotation": {
			&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n"}},
			[]string{"Verdict:  it has no annotation " + key},
		},
		"a bad pattern": {podWith("kubecon-(.*"), []string{
			"it waits: the scheduler refuses the pattern", "missing closing ): \"kubecon-(.*\"",
			"kubectl annotate pod p -n n --overwrite " + key + "=PATTERN",
		}},
		"no node matches": {podWith("^gpu"), []string{
			"Matches:  0 of 3 nodes: none", "no node's name matches", "or add a node that it matches; there are kubecon-1, kubecon-2, other",
		}},
		"another case": {podWith("KubeCon"), []string{"without regard to case it would match kubecon-1, kubecon-2"}},
		"Python":       {podWith("kubecon-1{,2}"), []string{"write {0,2}"}},
		"excluded":     {podWith("kubecon", excluding("-1$")), []string{"Excludes: -1$", "Matches:  1 of 3 nodes: kubecon-2"}},
		"all excluded": {
			podWith("", func(p *v1.Pod) { delete(p.Annotations, key) }, excluding("")),
			[]string{"Matches:  0 of 3 nodes: none", "matches every name: kubectl annotate pod p -n n --overwrite " + key + "-exclude=PATTERN"},
		},
		"a bad exclusion": {podWith("kubecon", excluding("(")), []string{
			"annotation " + key + `-exclude: missing closing ): "("`, "kubectl annotate pod p -n n --overwrite " + key + "-exclude=PATTERN",
		}},
		"obstacles at each": {podWith("kubecon"), []string{
			"Matches:  2 of 3 nodes: kubecon-1, kubecon-2", "something else stands in the way at each",
			"kubecon-1: it is cordoned", "kubectl uncordon kubecon-1", "kubecon-2: it has the taint gpu=a100:NoSchedule", "kubectl taint node kubecon-2 gpu=a100:NoSchedule-",
		}},
		"a node without an obstacle": {podWith("."), []string{"what the scheduler says has the reason", "free resources"}},
		"tolerations": {podWith("kubecon", func(p *v1.Pod) {
			p.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}}
		}), []string{"what the scheduler says has the reason"}},
		"a selector of nodes": {podWith("other", func(p *v1.Pod) {
			p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		}), []string{"other: its labels are not those that the pod's nodeSelector or affinity wants"}},
		"more than any node has": {podWith(".", asks("100", "1Gi"), func(p *v1.Pod) {
			p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("2")
		}), []string{
			"something else stands in the way at each", "other: the pod asks for more than it has in all: 100 of 4 cpu, 2 of 0 example.com/gpu",
			"other: let the pod ask for less, or let the pattern match a larger node",
		}},
		"more than is free":    {podWith(".", asks("4", "16Gi")), []string{"what the scheduler says has the reason", "free resources"}},
		"a gate":               {podWith("x", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} }), []string{"scheduling gate g"}},
		"where it belongs":     {podWith("other", on("other")), []string{"it is on other, whose name matches"}},
		"where it doesn't":     {podWith("kubecon", on("other")), []string{"whose name does not match", "the scheduler mine does not read it"}},
		"there, and bad since": {podWith("(", on("other")), []string{"it is on other, though the pattern is refused now"}},
		"of a Deployment": {podWith("(", func(p *v1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-1", Controller: new(true)}}
		}), []string{"holds for the template in ReplicaSet web-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			explain(regex.Default, tt.pod, nodes).write(&out)
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
		})
	}
}

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
		got = append(got, fmt.Sprintf("%s\t%d\t%d\t%d\t%s", u, u.Nodes, u.Pods, u.Waiting, u.Problem))
	}
	want := []string{
		"kubecon\t-\t2\t2\t1\t",
		"(\t-\t0\t1\t0\tmissing closing )",
		"-\t-1$\t2\t1\t1\t",
		"^gpu\t-\t0\t1\t1\tmatches no node",
		"kubecon\t-1$\t1\t1\t1\t",
		"kubecon\t[\t0\t1\t0\twhat to exclude: missing closing ]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
