package report

import (
	"bytes"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/bench/cycle"
	"wasmkwokwizardry.io/regex-scheduling/bench/sample"
	"wasmkwokwizardry.io/regex-scheduling/bench/start"
	"wasmkwokwizardry.io/regex-scheduling/bench/whole"
)

// someRun has every kind of measurement. v2 takes 1.3 × the floor for one
// pattern, and 2 × for another.
func someRun() *Run {
	took := func(door, kase string, nodes int, preFilter bool, ns ...float64) cycle.Result {
		return cycle.Result{Door: door, Case: kase, Nodes: nodes, PreFilter: preFilter, Time: ns, Wall: ns, Cycles: []int{1, 1, 1}}
	}
	return &Run{
		Cycles: []cycle.Result{
			took("v2", "prefix", 1000, false, 130, 260, 1300), took("name", "prefix", 1000, false, 100, 200, 1000),
			took("v2", ".*", 1000, false, 200, 400, 2000), took("name", ".*", 1000, false, 100, 200, 1000),
			took("v2", "prefix", 5000, false, 650, 1300, 6500), took("v2", "none", 1000, false, 14, 14, 14),
			took("empty", "none", 1000, true, 10, 10, 10), took("v2", "prefix", 1000, true, 5, 5, 5),
		},
		Whole:  []whole.Result{{Door: "v2", Nodes: 1000, Pods: 10, Rate: sample.Sample{99}}, {Door: "native-v2", Rate: sample.Sample{100}}},
		Starts: []start.Result{{Door: "v2", Size: 500 << 10, Time: sample.Sample{1e6}}},
	}
}

func TestVerdicts(t *testing.T) {
	want := []struct {
		what, where string
		measured    float64
		met         bool
	}{
		{"v2, ns per node, over the guest that only fetches the name", ".*", 2, false},
		{"v2, ns per node, 5,000 nodes over 1,000", "prefix", 1, true},
		{"v2, pod without annotation, over the empty guest's PreFilter", "1000 nodes", 1.4, true},
		{"whole scheduler, v2 over native, pods per second", "1000 nodes", 0.99, true},
		{"v2's size", "", 500, false},
	}
	targets := map[string]Target{}
	for _, target := range someRun().Targets() {
		targets[target.What] = target
	}
	for _, w := range want {
		got := targets[w.what]
		if got.Where != w.where || got.Met() != w.met || got.Measured.Median() != w.measured {
			t.Errorf("%s: got %v at %q, met %v", w.what, got.Measured, got.Where, got.Met())
		}
	}
}

func TestANodeFilteredForAPodWithoutAnnotationMissesTheTarget(t *testing.T) {
	run := someRun()
	run.cycle("v2", "none", 1000).Filtered = 1
	for _, target := range run.Targets() {
		if strings.HasPrefix(target.What, "v2, pod without annotation") && target.Met() {
			t.Error("met")
		}
	}
}

func TestWhatWasNotMeasuredHasNoVerdict(t *testing.T) {
	text := (&Run{}).Tables()[0].Text()
	if strings.Contains(text, "MISSED") || strings.Count(text, "not measured") < 7 {
		t.Error(text)
	}
}

func TestTablesAndRawNumbersOfARun(t *testing.T) {
	run := someRun()
	for _, table := range run.Tables() {
		for _, row := range table.Rows {
			if len(row) != len(table.Head) {
				t.Errorf("%s: a row of %d cells under %d", table.Title, len(row), len(table.Head))
			}
		}
		if md := table.Markdown(); strings.Count(md, "\n") < len(table.Rows)+3 {
			t.Error(md)
		}
	}
	var raw bytes.Buffer
	run.Raw(&raw)
	for _, want := range []string{
		"BenchmarkCycle/door=v2/case=prefix/nodes=1000-", "\t130.0 ns/op\t", "BenchmarkPreFilter/door=empty", "BenchmarkWhole/door=v2/nodes=1000/pods=10-", "BenchmarkStart/door=v2-",
	} {
		if !strings.Contains(raw.String(), want) {
			t.Errorf("no %q in\n%s", want, raw.String())
		}
	}
}
