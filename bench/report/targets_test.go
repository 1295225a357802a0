package report

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/bench/cycle"
	"wasmkwokwizardry.io/regex-scheduling/bench/sample"
	"wasmkwokwizardry.io/regex-scheduling/bench/start"
	"wasmkwokwizardry.io/regex-scheduling/bench/whole"
	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// someRun has every kind of measurement. In every case v2 takes 3 × what native
// does, but 2 × for the first pattern.
func someRun() *Run {
	took := func(door, kase string, nodes int, part cycle.Part, ns ...float64) cycle.Result {
		return cycle.Result{Door: door, Case: kase, Nodes: nodes, Part: part, Time: ns, Wall: ns, Cycles: []int{1, 1, 1}, Memory: 5 << 20}
	}
	run := &Run{
		Cycles: []cycle.Result{
			took("v2", "prefix", 5000, cycle.Whole, 1000, 2000, 10000),
			took("v2", "none", 1000, cycle.Whole, 5900, 5900, 5900), took("v2", "none", 1000, cycle.PreFilter, 5800, 5800, 5800),
			took("v2", "prefix", 1000, cycle.PreFilter, 5, 5, 5), took("pod", "prefix", 1000, cycle.PreFilter, 1, 1, 1),
		},
		Whole: []whole.Result{
			{Door: "v2", Nodes: 1000, Pods: 10, Rate: sample.Sample{99}},
			{Door: "native-v2", Nodes: 1000, Pods: 10, Rate: sample.Sample{100}},
			{Door: "v2", Nodes: 5000, Pods: 10, Rate: sample.Sample{96}},
			{Door: "native-v2", Nodes: 5000, Pods: 10, Rate: sample.Sample{100}},
		},
		Starts: []start.Result{{Door: "v2", Size: 500 << 10, Time: sample.Sample{1e6}}},
	}
	all := float64(runtime.GOMAXPROCS(0))
	for i, c := range work.Cases() {
		if !c.Filtered {
			continue
		}
		factor := 3.
		if i == 0 {
			factor = 2
		}
		run.Cycles = append(
			run.Cycles,
			took("native-v2", c.Name, 1000, cycle.Whole, 100, 200, 1000),
			took("v2", c.Name, 1000, cycle.Whole, 100*factor, 200*factor, 1000*factor),
			took("v2", c.Name, 1000, cycle.Shared, 110*factor/all, 220*factor/all, 1100*factor/all),
		)
	}
	return run
}

func TestVerdicts(t *testing.T) {
	want := []struct {
		what, where string
		measured    float64
		met         bool
	}{
		{"v2, ns per node, over native, mean of the patterns", "", 23. / 8, false},
		{"v2 on all processors, time × processors, over one, mean of the patterns", "", 1.1, true},
		{"v2, ns per node, 5,000 nodes over 1,000", "prefix", 1, true},
		{"v2, pod without annotation, PreFilter", "1000 nodes", 5.8, true},
		{"v2, PreFilter with a cached pattern, over the one that fetches the pod", "", 5, false},
		{"whole scheduler, 1,000 nodes, v2 over native, pods per second", "", 0.99, true},
		{"whole scheduler, 5,000 nodes, v2 over native, pods per second", "", 0.96, false},
		{"v2's memory, of an instance", "prefix, 5000 nodes", 5, true},
		{"v2's size", "", 500, false},
	}
	targets := map[string]Target{}
	for _, target := range someRun().Targets() {
		targets[target.What] = target
	}
	for _, w := range want {
		got := targets[w.what]
		if got.Where != w.where || got.Met() != w.met || math.Abs(got.Measured.Median()-w.measured) > 1e-9 {
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
		"BenchmarkCycle/door=v2/case=prefix/nodes=1000-", "\t200.0 ns/op\t", "BenchmarkPreFilter/door=pod", "BenchmarkShared/door=v2/case=prefix/nodes=1000-", "BenchmarkWhole/door=v2/nodes=1000/pods=10-", "BenchmarkStart/door=v2-",
	} {
		if !strings.Contains(raw.String(), want) {
			t.Errorf("no %q in\n%s", want, raw.String())
		}
	}
}
