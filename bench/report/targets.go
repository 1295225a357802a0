package report

import (
	"fmt"
	"math"
	"runtime"

	"wasmkwokwizardry.io/regex-scheduling/bench/cycle"
	"wasmkwokwizardry.io/regex-scheduling/bench/sample"
	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// A Target is a promise, and what came of it.
type Target struct {
	What     string
	Measured sample.Sample // empty: not measured
	Where    string        // the case that Measured is of, if there are many
	Limit    float64
	AtLeast  bool // the limit is the least, not the most
	Unit     string
	// Aside is true for a line that is no target of its own: it shows where
	// the time of one goes.
	Aside bool
}

// Met reports whether the promise was kept.
func (t Target) Met() bool {
	if t.AtLeast {
		return t.Measured.Median() >= t.Limit
	}
	return t.Measured.Median() <= t.Limit
}

// Targets are the verdicts on a run.
func (r *Run) Targets() []Target {
	aside := func(t Target) Target {
		t.Aside = true
		return t
	}
	return []Target{
		r.overNative("v2, ns per node, over native, mean of the patterns", "v2"),
		aside(r.overNative("… the guest that only fetches the name, over native", "name")),
		r.scaling("v2 on all processors, time × processors, over one, mean of the patterns", "v2"),
		aside(r.scaling("… native", "native-v2")),
		r.worstCase("v2, ns per node, 5,000 nodes over 1,000", 1.1, func(c string) sample.Sample {
			return ratio(r.cycle("v2", c, large), r.cycle("v2", c, small)).Scale(float64(small) / large)
		}),
		aside(r.worstCase("… native", 1.1, func(c string) sample.Sample {
			return ratio(r.cycle("native-v2", c, large), r.cycle("native-v2", c, small)).Scale(float64(small) / large)
		})),
		r.unannotated("v2, pod without annotation, PreFilter", "v2"),
		aside(r.unannotated("… the guest that only fetches the pod", "pod")),
		{
			What:     "v2, PreFilter with a cached pattern, over the one that fetches the pod",
			Measured: ratio(r.preFilter("v2", "prefix", small), r.preFilter("pod", "prefix", small)), Limit: 3, Unit: "×",
		},
		{
			What:     "v2, finite pattern, per pod, 5,000 nodes over 1,000",
			Measured: ratio(r.cycle("v2", "finite", large), r.cycle("v2", "finite", small)), Limit: 1.2, Unit: "×",
		},
		r.throughput(small),
		r.throughput(large),
		r.memory(),
		r.size(),
	}
}

// worstCase is the worst of the cases that ask something of each node.
func (r *Run) worstCase(what string, limit float64, measure func(kase string) sample.Sample) Target {
	t := Target{What: what, Limit: limit, Unit: "×"}
	for _, c := range work.Cases() {
		if !c.Filtered {
			continue
		}
		if m := measure(c.Name); len(m) > 0 && !(m.Median() <= t.Measured.Median()) {
			t.Measured, t.Where = m, c.Name
		}
	}
	return t
}

// overNative compares the mean over the cases that ask something of each node
// with that of the plugin compiled in.
func (r *Run) overNative(what, door string) Target {
	return Target{What: what, Limit: 2.5, Unit: "×", Measured: sample.Ratio(r.mean(door, cycle.Whole, processors), r.mean("native-v2", cycle.Whole, processors))}
}

// scaling is what cycles on all processors take by the clock, over what they
// would if the work of one were shared without loss.
func (r *Run) scaling(what, door string) Target {
	loss := sample.Ratio(r.mean(door, cycle.Shared, clock), r.mean(door, cycle.Whole, clock))
	return Target{What: what, Limit: 1.2, Unit: "×", Measured: loss.Scale(float64(runtime.GOMAXPROCS(0)))}
}

func processors(c *cycle.Result) sample.Sample { return c.Time }
func clock(c *cycle.Result) sample.Sample      { return c.Wall }

// mean is that of a door's times in each round, over all cases that ask something
// of each node. Without all of them it is empty.
func (r *Run) mean(door string, part cycle.Part, time func(*cycle.Result) sample.Sample) sample.Sample {
	var all []sample.Sample
	for _, c := range work.Cases() {
		if !c.Filtered {
			continue
		}
		result := r.find(door, c.Name, small, part)
		if result == nil {
			return nil
		}
		all = append(all, time(result))
	}
	return sample.Mean(all...)
}

// unannotated is the PreFilter of a pod that asks for nothing, the slowest of all
// numbers of nodes. A node that was filtered then breaks the promise.
func (r *Run) unannotated(what, door string) Target {
	t := Target{What: what, Limit: 6, Unit: " µs"}
	for _, n := range r.nodes() {
		p := r.preFilter(door, "none", n)
		if p == nil {
			continue
		}
		m := p.Time.Scale(1e-3)
		if c := r.cycle(door, "none", n); door == "v2" && c != nil && c.Filtered > 0 {
			m = sample.Sample{math.Inf(1)}
		}
		if !(m.Median() <= t.Measured.Median()) {
			t.Measured, t.Where = m, fmt.Sprintf("%d nodes", n)
		}
	}
	return t
}

func (r *Run) throughput(nodes int) Target {
	t := Target{What: fmt.Sprintf("whole scheduler, %s nodes, v2 over native, pods per second", thousands(fmt.Sprint(nodes))), Limit: 0.97, AtLeast: true, Unit: "×"}
	v2, native := r.whole("v2", nodes), r.whole("native-v2", nodes)
	if v2 != nil && native != nil {
		t.Measured = sample.Ratio(v2.Rate, native.Rate)
	}
	return t
}

// memory is that of an instance of v2 after every case.
func (r *Run) memory() Target {
	t := Target{What: "v2's memory, of an instance", Limit: 6, Unit: " MiB"}
	for _, c := range r.Cycles {
		if m := (sample.Sample{float64(c.Memory) / (1 << 20)}); c.Door == "v2" && !(m.Median() <= t.Measured.Median()) {
			t.Measured, t.Where = m, fmt.Sprintf("%s, %d nodes", c.Case, c.Nodes)
		}
	}
	return t
}

func (r *Run) size() Target {
	t := Target{What: "v2's size", Limit: 400, Unit: " KiB"}
	for _, s := range r.Starts {
		if s.Door == "v2" {
			t.Measured = sample.Sample{float64(s.Size) / 1024}
		}
	}
	return t
}
