package report

import (
	"fmt"
	"math"

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
		r.worstCase("v2, ns per node, over the guest that only fetches the name", 1.35, func(c string) sample.Sample {
			return ratio(r.cycle("v2", c, small), r.cycle("name", c, small))
		}),
		aside(r.worstCase("… over the guest that fetches it and rejects with a reason", 1.35, func(c string) sample.Sample {
			return ratio(r.cycle("v2", c, small), r.cycle("reject", c, small))
		})),
		r.worstCase("v2, ns per node, 5,000 nodes over 1,000", 1.1, func(c string) sample.Sample {
			return ratio(r.cycle("v2", c, large), r.cycle("v2", c, small)).Scale(float64(small) / large)
		}),
		aside(r.worstCase("… the guest that only fetches the name", 1.1, func(c string) sample.Sample {
			return ratio(r.cycle("name", c, large), r.cycle("name", c, small)).Scale(float64(small) / large)
		})),
		r.worstSize("v2, pod without annotation, over the empty guest's PreFilter", 1.5, "empty"),
		aside(r.worstSize("… over the empty guest's PreFilter that fetches the pod", 1.5, "pod")),
		{
			What:     "v2, PreFilter with a cached pattern, over the one that fetches the pod",
			Measured: ratio(r.preFilter("v2", "prefix", small), r.preFilter("pod", "prefix", small)), Limit: 3, Unit: "×",
		},
		{
			What:     "v2, finite pattern, per pod, 5,000 nodes over 1,000",
			Measured: ratio(r.cycle("v2", "finite", large), r.cycle("v2", "finite", small)), Limit: 1.2, Unit: "×",
		},
		r.throughput(),
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

// worstSize holds v2's cycle of a pod without annotation against a PreFilter,
// with every number of nodes. A node that was filtered breaks the promise.
func (r *Run) worstSize(what string, limit float64, under string) Target {
	t := Target{What: what, Limit: limit, Unit: "×"}
	for _, n := range r.nodes() {
		v2 := r.cycle("v2", "none", n)
		m := ratio(v2, r.preFilter(under, "none", n))
		if len(m) == 0 {
			continue
		}
		if v2.Filtered > 0 {
			m = sample.Sample{math.Inf(1)}
		}
		if !(m.Median() <= t.Measured.Median()) {
			t.Measured, t.Where = m, fmt.Sprintf("%d nodes", n)
		}
	}
	return t
}

func (r *Run) throughput() Target {
	t := Target{What: "whole scheduler, v2 over native, pods per second", Limit: 0.95, AtLeast: true, Unit: "×"}
	v2, native := r.whole("v2"), r.whole("native-v2")
	if v2 != nil && native != nil {
		t.Measured, t.Where = sample.Ratio(v2.Rate, native.Rate), fmt.Sprintf("%d nodes", v2.Nodes)
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
