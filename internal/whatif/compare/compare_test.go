package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// crowded is a cluster that is larger than what the scheduler looks at for a pod,
// in which some pods have to preempt others.
func crowded() *snapshot.Snapshot {
	s := clusterOf(120, 300)
	s.PriorityClasses = []schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "first"}, Value: 1000},
		{ObjectMeta: metav1.ObjectMeta{Name: "last"}, Value: -10, GlobalDefault: true},
	}
	for i := range s.Nodes[:6] {
		for j := range 4 {
			pod := on(podOf(fmt.Sprint("there-", i, "-", j), "900m"), s.Nodes[i].Name)
			s.Pods = append(s.Pods, pod)
		}
		s.Nodes[i].Labels["full"] = "yes"
		s.Nodes[i].Status.Allocatable[v1.ResourceCPU] = *s.Nodes[0].Status.Allocatable.Cpu()
		s.Nodes[i].Status.Capacity = s.Nodes[i].Status.Allocatable
	}
	for i := range 3 {
		urgent := podOf(fmt.Sprint("urgent-", i), "2")
		urgent.Spec.PriorityClassName, urgent.Spec.NodeSelector = "first", map[string]string{"full": "yes"}
		s.Pods = append(s.Pods, urgent)
	}
	return s
}

func TestRunOfTheDefaultAgainstItselfDiffersOnlyInTies(t *testing.T) {
	for name, options := range map[string]Options{
		"pods that fit":            {Cluster: clusterOf(150, 400), Seed: 7},
		"pods that preempt others": {Cluster: crowded()},
		"every pod rescheduled":    {Cluster: crowded(), Pods: side.All},
		"an extender":              {Cluster: clusterOf(130, 100), A: variant(t, "extender"), B: []Scheduler{variant(t, "extender")}},
		"a plugin that is not met": {Cluster: clusterOf(150, 200), B: []Scheduler{variant(t, "v2")}},
	} {
		t.Run(name, func(t *testing.T) {
			if options.A.Config == nil {
				options.A = variant(t, "none")
			}
			if len(options.B) == 0 {
				options.B = []Scheduler{variant(t, "none")}
			}
			r := run(t, options)
			if len(r.Differences) > 0 || r.Counts.Same == 0 {
				t.Errorf("%+v", r.Counts)
			}
		})
	}
}

// TestNodesThatPreFilterNamesAreTriedInOneOrder: kube-scheduler takes them from a set,
// and looks at a part of them.
func TestNodesThatPreFilterNamesAreTriedInOneOrder(t *testing.T) {
	s := clusterOf(250, 0)
	for i := range 60 {
		s.Pods = append(s.Pods, withRegex(podOf(fmt.Sprintf("even-%02d", i), []string{"100m", "300m"}[i%2]), "^node-..[02468]$"))
	}
	r := run(t, Options{A: variant(t, "native"), B: []Scheduler{variant(t, "v2")}, Cluster: s})
	if len(r.Differences) > 0 || r.Counts.Same != 60 {
		t.Errorf("%d differ, %+v", len(r.Differences), r.Counts)
	}
}

func TestRunFindsPodsThatARegexLeavesWithoutNodes(t *testing.T) {
	s := clusterOf(10, 40)
	for i := range 3 {
		s.Pods = append(s.Pods, withRegex(podOf(fmt.Sprint("picky-", i), "100m"), "^gpu-"))
	}
	s.Pods = append(s.Pods, withRegex(podOf("fussy", "100m"), "^node-00[12]$"), podOf("huge", "64"))
	r := run(t, Options{A: variant(t, "none"), B: []Scheduler{variant(t, "v2")}, Cluster: s})
	if r.Counts.OnlyA != 3 || r.Asked != 45 || r.Nodes != 10 {
		t.Errorf("%d of %d pods on %d nodes have lost theirs", r.Counts.OnlyA, r.Asked, r.Nodes)
	}
	for i, d := range r.Differences {
		if i < 3 && (d.Kind != OnlyA || d.Cause != Verdict || d.Follows || d.Plugin != "WasmRegexScheduling" ||
			!strings.Contains(d.Reason, `under B `+d.A.Node+` is rejected: node(s) didn't match the pod's node name regex "^gpu-"`)) {
			t.Errorf("%+v", d)
		}
	}
	if len(r.Pending) != 1 || r.Pending[0].Name != "huge" || r.Pending[0].Plugin != "NodeResourcesFit" {
		t.Errorf("pending are %+v", r.Pending)
	}
	if r.Load.A.Requested.Cpu().MilliValue() != r.Load.B.Requested.Cpu().MilliValue()+300 {
		t.Errorf("A has %+v, B %+v", r.Load.A, r.Load.B)
	}
}

func TestReasonNamesTheWeightsThatTurnTheChoice(t *testing.T) {
	const packed = `
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
`
	s := &snapshot.Snapshot{Nodes: []v1.Node{nodeOf("empty", "a", "4"), nodeOf("busy", "a", "4")}}
	s.Pods = append(s.Pods, on(podOf("there", "2"), "busy"), podOf("new", "100m"))
	r := run(t, Options{A: variant(t, "none"), B: []Scheduler{{Name: "packed", Config: []byte(packed)}}, Cluster: s})
	if len(r.Differences) != 1 {
		t.Fatalf("%d differ", len(r.Differences))
	}
	d := r.Differences[0]
	if d.A.Node != "empty" || d.B.Node != "busy" || d.Cause != Score || d.Plugin != "NodeResourcesFit" || d.Follows {
		t.Errorf("%+v", d)
	}
}

func TestReasonNamesAPreemptionOnOneSide(t *testing.T) {
	const meek = "profiles: [{plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}}}]"
	s := &snapshot.Snapshot{Nodes: []v1.Node{nodeOf("one", "a", "4")}}
	s.PriorityClasses = []schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "first"}, Value: 1000}}
	urgent := podOf("urgent", "3")
	urgent.Spec.PriorityClassName = "first"
	s.Pods = append(s.Pods, on(podOf("there", "2"), "one"), urgent)
	r := run(t, Options{A: Scheduler{Name: "meek", Config: []byte(meek)}, B: []Scheduler{variant(t, "none")}, Cluster: s})
	got := map[string]Difference{}
	for _, d := range r.Differences {
		got[d.Name] = d
	}
	there := got["there"]
	if there.Kind != OnlyA || there.Cause != Preemption || there.B.State != engine.Preempted || there.B.PreemptedBy != "default/urgent" {
		t.Errorf("%+v", there)
	}
	if got["urgent"].Kind != OnlyB || got["urgent"].B.Node != "one" {
		t.Errorf("%+v", got["urgent"])
	}
}

func TestScenarioGoesStepByStep(t *testing.T) {
	text, err := os.ReadFile("testdata/scenario.yaml")
	testkit.Must(t, err)
	scenario, err := side.ReadScenario(text)
	testkit.Must(t, err)
	s := &snapshot.Snapshot{Nodes: []v1.Node{nodeOf("node-1", "a", "4")}}
	s.Pods = append(s.Pods, podOf("first", "3"), podOf("waits", "2"))
	r := run(t, Options{A: variant(t, "none"), B: []Scheduler{variant(t, "v2")}, Cluster: s, Scenario: *scenario})
	nodes := map[string]string{"first": "gone", "waits": "node-1", "web-1": "gpu-1", "web-2": "gpu-1 or node-1"}
	if r.Nodes != 2 || r.Counts.OnlyA != 0 || r.Steps != 3 {
		t.Errorf("%d nodes, %d lost, %d steps; want %v", r.Nodes, r.Counts.OnlyA, r.Steps, nodes)
	}
	if r.Load.B.Requested.Pods().Value() != 3 {
		t.Errorf("%v run under B", r.Load.B.Requested)
	}
	if len(r.Pending) > 0 {
		t.Errorf("pending: %+v", r.Pending)
	}
}

func TestRunThatIsCanceledLeavesNothing(t *testing.T) {
	testkit.EmptyTemp(t)
	for _, at := range []string{"reads the cluster", "schedules"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Run(ctx, Options{
			A: variant(t, "none"), B: []Scheduler{variant(t, "v2")}, Cluster: clusterOf(20, 200), Pods: side.Pending, WhatIf: whatIf,
			Progress: func(p Progress) {
				if p.Step == at {
					cancel()
				}
			},
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ended while it %s: %v", at, err)
		}
	}
}

func TestPodsThatNoSideSchedulesStayAsTheyAre(t *testing.T) {
	s := clusterOf(2, 0)
	other, mirror, done, gated := podOf("other", "1"), podOf("mirror", "1"), podOf("done", "1"), podOf("gated", "1")
	other.Spec.SchedulerName = "another"
	mirror.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x"}
	done.Status.Phase = v1.PodSucceeded
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/later"}}
	moved := podOf("moved", "1")
	moved.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: "u", Controller: ptr.To(true)}}
	s.Pods = []v1.Pod{on(other, "node-000"), on(mirror, "node-000"), on(done, "node-000"), gated, on(moved, "node-000")}
	r := run(t, Options{A: variant(t, "none"), B: []Scheduler{variant(t, "none")}, Cluster: s, Pods: side.All})
	if r.Asked != 1 || r.Counts.Same != 3 || len(r.Pending) != 1 || r.Pending[0].A.Message != "it has scheduling gates" {
		t.Errorf("asked of %d, %+v, pending %+v", r.Asked, r.Counts, r.Pending)
	}
}

// TestRunTwiceHasTheSameResult byte for byte.
func TestRunTwiceHasTheSameResult(t *testing.T) {
	var texts [2]string
	for i := range texts {
		s := crowded()
		s.Pods = append(s.Pods, withRegex(podOf("picky", "100m"), "^gpu-"), withRegex(podOf("fussy", "100m"), "^node-00[12]$"))
		r := run(t, Options{A: variant(t, "none"), B: []Scheduler{variant(t, "v2")}, Cluster: s, Pods: side.All, Seed: 7})
		raw, err := json.Marshal(r)
		testkit.Must(t, err)
		texts[i] = string(raw)
	}
	if texts[0] != texts[1] {
		t.Errorf("%s\n%s", texts[0], texts[1])
	}
}
