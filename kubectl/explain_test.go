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
	"k8s.io/apimachinery/pkg/labels"

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

// podWith is a pending pod with a pattern.
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

// What a live scheduler need not be asked for; TestEveryKindOfPodGetsItsAdvice has the rest.
func TestExplain(t *testing.T) {
	seen := surroundings{
		nodes:     []*v1.Node{node("kubecon-1", cordoned), node("kubecon-2", tainted), node("other")},
		pods:      []*v1.Pod{podWith("", on("other"), asks("1", "1Gi"))},
		scheduler: "0/3 nodes are available",
	}
	unseen := seen
	unseen.scheduler = ""
	forbidden := surroundings{nodes: seen.nodes, scheduler: seen.scheduler, notRead: []string{"list pods: forbidden"}}
	lacking := seen
	lacking.lacks = []lack{{"PersistentVolumeClaim a", "does not exist", "create a"}, {"PersistentVolumeClaim b", "is being deleted", "recreate b"}}
	for name, tt := range map[string]struct {
		pod  *v1.Pod
		seen surroundings
		want []string
	}{
		"Python":   {podWith("kubecon-1{,2}"), seen, []string{"The pattern may not mean what you expect:\n  - annotation " + key + ": in RE2", "write {0,2}"}},
		"excluded": {podWith("kubecon", excluding("-1$")), seen, []string{"Excludes: -1$", "Matches:  1 of 3 nodes: kubecon-2"}},
		"all excluded": {
			podWith("", func(p *v1.Pod) { delete(p.Annotations, key) }, excluding("")), seen,
			[]string{"Matches:  0 of 3 nodes: none", "matches every name: kubectl annotate pod p -n n --overwrite " + key + "-exclude=PATTERN"},
		},
		"a bad exclusion": {podWith("kubecon", excluding("(")), seen, []string{
			"annotation " + key + `-exclude: missing closing ): "("`, "kubectl annotate pod p -n n --overwrite " + key + "-exclude=PATTERN",
		}},
		"another case, and excluded": {podWith("KUBECON-1", excluding("-1$")), seen, []string{"To fix it:\n  - change the pattern ("}},
		"obstacles at each":          {podWith("kubecon"), seen, []string{"Matches:  2 of 3 nodes: kubecon-1, kubecon-2", "kubecon-1: it is cordoned", "kubecon-2: it has the taint"}},
		"a node without an obstacle": {podWith("."), seen, []string{
			"explain finds no reason to reject it on other; the scheduler's message has the reason", "kubectl uncordon kubecon-1", "fix what the scheduler's message names",
		}},
		"tolerations": {podWith("kubecon", func(p *v1.Pod) {
			p.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}}
		}), seen, []string{"explain finds no reason to reject it on kubecon-1, kubecon-2"}},
		"an extended resource": {podWith("other", asks("1", "1Gi"), func(p *v1.Pod) {
			p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("2")
		}), seen, []string{"other: the pod requests more than it has in all: 2 of 0 example.com/gpu"}},
		"a node that is not ready": {podWith("b"), surroundings{nodes: []*v1.Node{node("b", func(n *v1.Node) {
			n.Spec.Taints = []v1.Taint{{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoSchedule}}
		})}, scheduler: "0/1"}, []string{"kubectl describe node b: the taint goes when its cause does"}},
		"as much as there is":         {podWith("other", asks("3", "15Gi")), seen, []string{"explain finds no reason to reject it on other"}},
		"more than is free":           {podWith("other", asks("4", "16Gi")), seen, []string{"other: the pod requests more than is free: 4 of 3 cpu, 16Gi of 15Gi memory"}},
		"nobody may see other pods":   {podWith("other", asks("4", "16Gi")), forbidden, []string{"explain finds no reason to reject it on other", "Not checked:\n  - list pods: forbidden"}},
		"its scheduler is silent":     {podWith("other"), unseen, []string{"its scheduler mine, which has scheduled other pods, has not reported on it yet"}},
		"two claims":                  {podWith("gpu"), lacking, []string{"PersistentVolumeClaim a does not exist, PersistentVolumeClaim b is being deleted\n", "create a", "recreate b", "change the pattern, too: no node's name matches"}},
		"there, and bad since":        {podWith("(", on("other")), seen, []string{"it is on other, though the pattern is invalid"}},
		"created for no node":         {podWith("other", on("gone"), created), seen, []string{"created with spec.nodeName gone, so no scheduler tried it; this node does not exist"}},
		"created for it":              {podWith("other", on("other"), created), seen, []string{"created with spec.nodeName other, so no scheduler tried it; the name matches anyway\n"}},
		"created for it, and bad":     {podWith("(", on("other"), created), seen, []string{"a scheduler would refuse the pattern\n"}},
		"deleted while it runs":       {podWith("other", on("other"), deleted), seen, []string{"it is being deleted", "the kubelet of other stops its containers", "--force"}},
		"deleted before it has begun": {podWith("other", deleted), seen, []string{"no scheduler tries it any more\n"}},
		"of a Deployment": {podWith("(", func(p *v1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-1", Controller: new(true)}}
		}), seen, []string{"change the pod template of ReplicaSet web-1, too"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			explain(regex.Default, tt.pod, &tt.seen).write(&out)
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
		})
	}
}

func TestOtherPodsInTheWay(t *testing.T) {
	port := func(ip string, protocol v1.Protocol) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Spec.Containers = []v1.Container{{Ports: []v1.ContainerPort{{HostPort: 80, HostIP: ip, Protocol: protocol}, {ContainerPort: 1}}}}
		}
	}
	sidecar := func(p *v1.Pod) {
		p.Spec.InitContainers, p.Spec.Containers = p.Spec.Containers, nil
		p.Spec.InitContainers[0].RestartPolicy = new(v1.ContainerRestartPolicyAlways)
	}
	away := func(term v1.PodAffinityTerm) func(*v1.Pod) {
		term.TopologyKey = v1.LabelTopologyZone
		return func(p *v1.Pod) {
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}
		}
	}
	all := &metav1.LabelSelector{}
	zoned := func(zone string) func(*v1.Node) {
		return func(n *v1.Node) { n.Labels[v1.LabelTopologyZone] = zone }
	}
	for name, tt := range map[string]struct {
		pod, other *v1.Pod // the other is on the node b, in namespace n as the pod
		want       string  // of the nodes that reject it
	}{
		"the same port":               {podWith(".", port("", "TCP")), podWith("", port("", "TCP")), "b"},
		"a port of another protocol":  {podWith(".", port("", "TCP")), podWith("", port("", "UDP")), ""},
		"the same port of an address": {podWith(".", port("10.0.0.1", "TCP")), podWith("", port("0.0.0.0", "TCP")), "b"},
		"that of another address":     {podWith(".", port("10.0.0.1", "TCP")), podWith("", port("10.0.0.2", "TCP")), ""},
		"that of a sidecar":           {podWith(".", port("", "TCP")), podWith("", port("", "TCP"), sidecar), "b"},
		"away from all, in a zone":    {podWith(".", away(v1.PodAffinityTerm{LabelSelector: all})), podWith(""), "a b"},
		"the other's, in a zone":      {podWith("."), podWith("", away(v1.PodAffinityTerm{LabelSelector: all})), "a b"},
		"away from nothing":           {podWith(".", away(v1.PodAffinityTerm{})), podWith(""), ""},
		"in another namespace":        {podWith(".", away(v1.PodAffinityTerm{LabelSelector: all, Namespaces: []string{"m"}})), podWith(""), ""},
		"in namespaces with a label": {
			podWith(".", away(v1.PodAffinityTerm{LabelSelector: all, NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "x"}}})), podWith(""), "a b",
		},
		"in those with another": {
			podWith(".", away(v1.PodAffinityTerm{LabelSelector: all, NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "y"}}})), podWith(""), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			on("b")(tt.other)
			seen := &surroundings{
				nodes: []*v1.Node{node("a", zoned("z")), node("b", zoned("z")), node("c", zoned("y")), node("d")}, pods: []*v1.Pod{tt.other},
				namespaces: map[string]labels.Set{"n": {"team": "x"}},
			}
			var got []string
			for _, o := range obstacles(tt.pod, seen, namesOf(seen.nodes)) {
				got = append(got, o.Node)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s reject it, want %s", got, tt.want)
			}
		})
	}
}

func created(p *v1.Pod) {
	p.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:nodeName":{}}}`)}}}
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
		got = append(got, fmt.Sprintf("%s\t%d\t%d\t%d\t%s", u, u.Nodes, u.Pods, u.Pending, u.Problem))
	}
	want := []string{
		"kubecon\t-\t2\t2\t1\t",
		"(\t-\t0\t1\t0\tmissing closing )",
		"-\t-1$\t2\t1\t1\t",
		"^gpu\t-\t0\t1\t1\tmatches no node",
		"kubecon\t-1$\t1\t1\t1\t",
		"kubecon\t[\t0\t1\t0\texclude annotation: missing closing ]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
