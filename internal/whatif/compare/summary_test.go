package compare

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// sideWith is a side with four nodes in two zones, two of which have GPUs, on which the pods
// of svc are on these nodes, and a DaemonSet's and a static pod are on the last node.
func sideWith(name string, svc ...string) *side.Result {
	r := &side.Result{Name: name, Mode: side.All, Setups: map[string]side.Setup{}}
	for i, one := range []string{"a-1", "a-2", "b-1", "b-2"} {
		room := v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("10")}
		if one[2:] == "1" {
			room["example.com/fpga"], room["nvidia.com/gpu"] = resource.MustParse("1"), resource.MustParse("4")
		}
		labels := map[string]string{v1.LabelTopologyZone: "zone-" + one[:1], v1.LabelInstanceTypeStable: []string{"m5.large", "m5.large", "p4d", ""}[i]}
		r.Nodes = append(r.Nodes, side.Node{Name: one, Labels: labels, Allocatable: room, Today: true})
	}
	for i, node := range svc {
		state := "Scheduled"
		if node == "" {
			state = "Unschedulable"
		}
		r.Pods = append(r.Pods, &side.Pod{
			Namespace: "default", Name: fmt.Sprint("svc-", i), Owner: cluster.Workload{Kind: "Deployment", Name: "svc"}, Today: "a-1",
			Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1"), "nvidia.com/gpu": resource.MustParse("1")},
			Outcome:  side.Outcome{Node: node, State: state, Attempts: 1},
		})
	}
	for _, owner := range []cluster.Workload{{Kind: "DaemonSet", Name: "agent"}, {Kind: cluster.OfStatic, Name: "b-2"}} {
		r.Pods = append(r.Pods, &side.Pod{Namespace: "kube-system", Name: owner.Name, Owner: owner, Today: "b-2", Outcome: side.Outcome{Node: "b-2", State: engine.Stayed}})
	}
	return r.Index()
}

func judged(t *testing.T, a, b *side.Result) *Result {
	t.Helper()
	dir := t.TempDir()
	files := [2]string{filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")}
	for i, result := range []*side.Result{a, b} {
		result.Format = side.Format
		testkit.Must(t, result.Write(files[i]))
	}
	r, err := JudgeFiles(files[0], files[1])
	testkit.Must(t, err)
	return r
}

func TestSummaryIsTheAnswer(t *testing.T) {
	r := judged(t, sideWith("A", "a-1", "a-2", "b-1", "a-1"), sideWith("B", "a-1", "a-1", "a-1", ""))
	want := []Line{
		{About: "pods that lose their node", Says: "1: default/svc-3"},
		{About: "direct differences", Says: "0"},
		{About: "knock-on effects", Says: "3: 3 by unknown"},
		{About: "nodes used, empty", Today: "1, 3", A: "3, 1", B: "1, 3"},
		{About: "imbalance, cpu", Today: "43.3 %", A: "17.7 %", B: "32.5 %"},
		{About: "imbalance, memory", Today: "0.0 %", A: "0.0 %", B: "0.0 %"},
		{About: "imbalance, pods", Today: "16.6 %", A: "5.0 %", B: "13.0 %"},
		{About: "imbalance, example.com/fpga", Today: "0.0 %", A: "0.0 %", B: "0.0 %"},
		{About: "imbalance, nvidia.com/gpu", Today: "50.0 %", A: "12.5 %", B: "37.5 %"},
	}
	if r.Verdict != "1 pod would no longer have a node, 2 pods would have another node as a knock-on effect if all pods were rescheduled from scratch under B (B) in place of A (A)" {
		t.Error(r.Verdict)
	}
	for i, line := range r.Summary {
		if i >= len(want) || line != want[i] {
			t.Errorf("line %d is %+v", i, line)
		}
	}
	if len(r.Summary) != len(want) {
		t.Errorf("%d lines, want %d", len(r.Summary), len(want))
	}
}

func TestWorkloadsAndNodesAreCountedByZone(t *testing.T) {
	r := judged(t, sideWith("A", "a-1", "a-2", "b-1", "a-1"), sideWith("B", "a-1", "a-1", "a-1", ""))
	svc := r.Workloads[0]
	over := map[string][3]int{"zone-a": {4, 3, 3}, "zone-b": {0, 1, 0}}
	if svc.Name != "svc" || svc.Replicas != 4 || svc.Follow != 3 || svc.Direct != 0 ||
		!reflect.DeepEqual(svc.Kinds, map[Kind]int{OnlyA: 1, Moved: 2}) || !reflect.DeepEqual(svc.Over, over) {
		t.Errorf("%+v", svc)
	}
	if len(r.Workloads) != 3 || len(r.Workloads[1].Kinds)+len(r.Workloads[2].Kinds) > 0 {
		t.Errorf("%d workloads", len(r.Workloads))
	}
	if len(r.Groups) != 2 || r.Groups[1].Zone != "zone-b" || r.Groups[1].A.Used != 1 || r.Groups[1].A.Empty != 1 || r.Groups[1].B.Used != 0 {
		t.Errorf("%+v", r.Groups)
	}
}

func TestSettingSaysWhatDiffers(t *testing.T) {
	const packed = "profiles: [{plugins: {multiPoint: {disabled: [{name: ImageLocality}], enabled: [{name: ImageLocality, weight: 5}]}}, " +
		"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}]}]"
	a, b := setupsOf(t, "percentageOfNodesToScore: 5")[v1.DefaultSchedulerName], setupsOf(t, packed)[v1.DefaultSchedulerName]
	for name, want := range map[string]string{
		"ImageLocality":    "weight 1 → 5",
		"NodeResourcesFit": `scoringStrategy.resources, scoringStrategy.type LeastAllocated → MostAllocated`,
	} {
		got := setting(a.Scores, b.Scores, name)
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	got := setting(a.Verdicts, b.Verdicts, side.PercentageOfNodesToScore)
	if got != "5 → 0" {
		t.Errorf("%q, want 5 → 0", got)
	}
	one, long := map[string]side.Settings{"P": {}}, strings.Repeat("k", 99)
	for _, test := range []struct {
		a, b map[string]side.Settings
		want string
	}{
		{nil, one, "only under B"},
		{one, nil, "only under A"},
		{one, map[string]side.Settings{"P": {Values: map[string]string{"x": "b", "y": long}}}, "x none → b, y"},
	} {
		got := setting(test.a, test.b, "P")
		if got != test.want {
			t.Errorf("%v and %v: %q, want %q", test.a, test.b, got, test.want)
		}
	}
}
