package simulator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// schedule has the scheduler of a ready-made configuration try the pending pods of a cluster in memory, which
// comes to what a live one does: package referee.
func schedule(t *testing.T, variant string, in *snapshot.Snapshot) *side.Result {
	t.Helper()
	config, err := SchedulerConfig(variant)
	testkit.Must(t, err)
	o, done, err := WhatIf(config, nil)
	testkit.Must(t, err)
	o.Cluster = in.DeepCopy()
	one, err := side.New(t.Context(), side.Options{Options: o, Text: config, Pods: side.Pending})
	testkit.Must(t, err)
	defer one.Close()
	result, err := one.Run(t.Context())
	testkit.Must(t, errors.Join(err, done()))
	return result
}

// first is a class of pods that preempt others.
var first = []schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "first"}, Value: 1000}}

// oneCPU is a node of that size.
func oneCPU(name string) v1.Node { return objects.PlainNode(name, "a", "1") }

// podFor takes a whole node.
func podFor(name, pattern, class string) v1.Pod {
	pod := objects.PlainPod(name, "1")
	pod.Annotations = map[string]string{regex.Annotation: pattern}
	pod.Spec.PriorityClassName = class
	return pod
}

func TestV2DecidesAsTheNativePluginDoes(t *testing.T) {
	withClaim := podFor("p", "^public-[12]$", "")
	withClaim.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "missing"}}}}
	nominated, cordoned := podFor("p", "kubecon-", "first"), oneCPU("kubecon-1")
	nominated.Status.NominatedNodeName, cordoned.Spec.Unschedulable = "kubecon-1", true
	for _, tt := range []struct {
		name  string
		nodes []v1.Node
		pods  []v1.Pod
		want  string // the message of pod p
	}{
		{
			"few names that no node bears",
			[]v1.Node{oneCPU("kubecon-1")},
			[]v1.Pod{podFor("p", "^cncf-[12]$", "")},
			`0/1 nodes are available: 1 node(s) didn't match the pod's node name regex "^cncf-[12]$". ` +
				`no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`,
		},
		{
			"few names, and a node that is too small",
			[]v1.Node{oneCPU("other"), oneCPU("kubecon-1")},
			[]v1.Pod{ // nodes are named for the second pod like one
				objects.On(podFor("there", "kubecon-", "first"), "kubecon-1"), podFor("like-it", "^kubecon-1$", ""), podFor("p", "^kubecon-1$", ""),
			},
			`0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [PLUGIN]. no new claims to deallocate, preemption: 0/2 nodes are available: ` +
				`1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling., 1 node(s) didn't match the pod's node name regex "^kubecon-1$"`,
		},
		{
			"no pod to preempt",
			[]v1.Node{oneCPU("kubecon-1")},
			[]v1.Pod{objects.On(podFor("there", "kubecon-", ""), "kubecon-1"), podFor("p", "kubecon-", "")},
			`0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.`,
		},
		{
			"a volume that is missing, after another regex",
			[]v1.Node{oneCPU("kubecon-1")},
			[]v1.Pod{podFor("other", "^secret-[12]$", ""), withClaim},
			`0/1 nodes are available: persistentvolumeclaim "missing" not found. not found`, // DynamicResources' PostFilter without its PreFilter
		},
		{
			"a nomination to a cordoned node",
			[]v1.Node{cordoned, oneCPU("kubecon-2")},
			[]v1.Pod{objects.On(podFor("there", "kubecon-", "first"), "kubecon-2"), nominated},
			`0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: ` +
				`1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.`,
		},
	} {
		for _, variant := range []string{"native", "v2"} {
			result := schedule(t, variant, &snapshot.Snapshot{PriorityClasses: first, Nodes: tt.nodes, Pods: tt.pods})
			p := result.Pod(side.KeyOf("default/p"))
			want := strings.Replace(tt.want, "PLUGIN", map[string]string{"native": "RegexScheduling", "v2": "WasmRegexScheduling"}[variant], 1)
			if p.Node != "" || p.Message != want {
				t.Errorf("%s, %s: got %q on %q, want %q", tt.name, variant, p.Message, p.Node, want)
			}
		}
	}
}

// However many full nodes there are, a pod preempts on the nodes that its regex matches, and only
// there: no victim on another node would make room for it, and it would preempt without end.
func TestPreemptionIsOnNodesThatTheRegexMatchesOnly(t *testing.T) {
	in := &snapshot.Snapshot{PriorityClasses: first, Pods: []v1.Pod{podFor("ghost", "^ghost$", "first"), podFor("gpu", "^gpu-1$", "first")}}
	for _, node := range []string{"node-1", "node-2", "node-3", "node-4", "node-5", "gpu-1"} {
		in.Nodes = append(in.Nodes, oneCPU(node))
		in.Pods = append(in.Pods, objects.On(podFor("on-"+node, "", ""), node))
	}
	for _, variant := range slices.DeleteFunc(slices.Clone(Variants), func(v string) bool { return v == "none" }) { // it reads no pattern
		t.Run(variant, func(t *testing.T) {
			result := schedule(t, variant, in)
			for _, pod := range result.Pods {
				node := strings.TrimPrefix(pod.Name, "on-")
				want := map[string]string{"ghost": "", "gpu": "gpu-1", "on-gpu-1": ""}
				if _, ok := want[pod.Name]; ok {
					node = want[pod.Name]
				}
				if pod.Node != node {
					t.Errorf("%s is on %q, want %q: %s", pod.Name, pod.Node, node, pod.Message)
				}
			}
			out := result.Pod(side.KeyOf("default/on-gpu-1"))
			if out.PreemptedBy != "default/gpu" {
				t.Errorf("%s was preempted by %q", out.Name, out.PreemptedBy)
			}
		})
	}
}

// kube-scheduler is content with some nodes of many, and with 100 candidates for preemption, and only then asks its
// extenders: the configuration must let it find them all.
func TestExtenderIsAskedAboutEveryNodeOfALargeCluster(t *testing.T) {
	const nodes, every = 240, 60
	free := &snapshot.Snapshot{PriorityClasses: first}
	for i := range nodes {
		free.Nodes = append(free.Nodes, oneCPU(fmt.Sprintf("node-%03d", i)))
	}
	full := free.DeepCopy()
	for i, node := range free.Nodes {
		full.Pods = append(full.Pods, objects.On(podFor("on-"+node.Name, "", ""), node.Name))
		if i%every == 0 {
			free.Pods = append(free.Pods, podFor("to-"+node.Name, "^"+node.Name+"$", ""))
			full.Pods = append(full.Pods, podFor("to-"+node.Name, "^"+node.Name+"$", "first"))
		}
	}
	for _, variant := range []string{"extender", "extender-names"} {
		for attempts, in := range map[int]*snapshot.Snapshot{1: free, 2: full} { // the first of two preempts
			result := schedule(t, variant, in)
			for i := 0; i < nodes; i += every {
				node := in.Nodes[i].Name
				p := result.Pod(side.KeyOf("default/to-" + node))
				if p.Node != node || p.Attempts != attempts {
					t.Errorf("%s: %s is on %q after %d attempts, want %d: %s", variant, p.Name, p.Node, p.Attempts, attempts, p.Message)
				}
			}
		}
	}
}
