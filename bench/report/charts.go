package report

import (
	"cmp"
	"fmt"
	"slices"

	"wasmkwokwizardry.io/regex-scheduling/bench/plot"
	"wasmkwokwizardry.io/regex-scheduling/bench/sample"
)

// Chart is an SVG file.
type Chart struct{ File, About, SVG string }

// Charts are the plots of what was measured.
func (r *Run) Charts() (charts []Chart) {
	if lines := r.lines("prefix"); len(lines) > 0 {
		charts = append(charts, Chart{
			"cost-per-pod.svg", "What a pod costs, by the number of nodes: one line per door",
			plot.Lines("What a pod costs in each door", "µs per scheduling cycle for the pattern ^kubecon-, over all nodes; both axes in logarithms", "nodes", lines),
		})
	}
	if bars := r.bars(); len(bars) > 0 {
		charts = append(charts, Chart{
			"cost-per-node.svg", "What a node costs: one bar per door",
			plot.Bars("What a node costs in each door", "ns per node, 1,000 nodes, pattern ^kubecon-; axis in logarithms", true, bars),
		})
	}
	if len(r.Whole) > 0 {
		charts = append(charts, Chart{
			"whole-scheduler.svg", "Pods per second of a whole scheduler: one bar per door",
			plot.Bars("What a whole scheduler achieves with each door",
				fmt.Sprintf("pods per second, %d pods of all patterns on %d nodes, API server and etcd on the same machine", r.Whole[0].Pods, r.Whole[0].Nodes),
				false, r.rates()),
		})
	}
	return charts
}

func (r *Run) lines(kase string) (lines []plot.Series) {
	for _, d := range r.doors() {
		s := plot.Series{Name: d, Tone: tone(d)}
		for _, n := range r.nodes() {
			if c := r.cycle(d, kase, n); c != nil {
				s.X, s.Y = append(s.X, float64(n)), append(s.Y, c.Time.Median()/1e3)
			}
		}
		if len(s.X) > 1 && d != "pod" {
			lines = append(lines, s)
		}
	}
	return lines
}

func (r *Run) bars() (bars []plot.Bar) {
	for _, d := range r.doors() {
		if c := r.cycle(d, "prefix", small); c != nil && d != "pod" {
			bars = append(bars, bar(d, c.Time.Scale(1./small)))
		}
	}
	slices.SortFunc(bars, func(a, b plot.Bar) int { return cmp.Compare(a.Value, b.Value) })
	return bars
}

func (r *Run) rates() (bars []plot.Bar) {
	for _, w := range r.Whole {
		if len(w.Rate) > 0 && w.Nodes == r.Whole[0].Nodes {
			bars = append(bars, bar(w.Door, w.Rate))
		}
	}
	slices.SortFunc(bars, func(a, b plot.Bar) int { return cmp.Compare(b.Value, a.Value) })
	return bars
}

func bar(door string, s sample.Sample) plot.Bar {
	return plot.Bar{Name: door, Tone: tone(door), Value: s.Median(), Low: s.Quantile(0.25), High: s.Quantile(0.75)}
}

// tone makes v2 the hero of every chart.
func tone(door string) plot.Tone {
	switch door {
	case "v2":
		return plot.Hero
	case "v1":
		return plot.Second
	case "empty", "name", "reject", "pod", "none":
		return plot.Floor
	case "native-v1", "native-v2":
		return plot.Third
	}
	return plot.Other
}
