package main

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchunit"
)

// figure is a cell: a series, or its ratio to another variant's in the same round, or its
// quotient by the number of nodes.
type figure struct {
	series
	divisor string // "", a variant, or perNode
}

const perNode = "node"

func (f figure) per(divisor string) figure {
	f.divisor = divisor
	return f
}

// pod is the CPU time of a pod's scheduling cycle.
func pod(kase string, nodes int, variant string) figure {
	return figure{series: series{"Cycle", kase, nodes, variant, "cpu-sec/op"}}
}

// whole is a figure of a whole scheduler.
func whole(kase string, nodes int, variant, unit string) figure {
	return figure{series: series{"Scheduler", kase, nodes, variant, unit}}
}

// row has a figure for each column. A row without one of them is not shown.
type row struct {
	name    string
	figures []figure
	bound   bound // of the only figure
}

// bound is the most or the least that a figure may be. Zero is no bound.
type bound struct{ most, least float64 }

func (b bound) String() string {
	if b.most > 0 {
		return "≤ " + scale(b.most)
	}
	return "≥ " + scale(b.least)
}

func (b bound) result(value float64) string {
	if b.most > 0 && value > b.most || value < b.least {
		return "**missed**"
	}
	return "met"
}

func scale(value float64) string {
	if value >= 0.1 {
		return fmt.Sprint(value)
	}
	return benchunit.Scale(value, benchunit.Decimal)
}

type table struct {
	title, note string
	columns     []string
	rows        []row
	bounded     bool // two columns more: the bound, and whether it is met
}

// tables answer what a person wants to know first. benchstat has the rest.
func (r *results) tables() []table { return []table{r.cost(), r.achieved(), r.each(), r.targets()} }

// notInFirst are floors, and variants that few people choose: the first table does without.
var notInFirst = []string{
	"v1", "v2-asked", "v2-asked-trusted", "extender", "http", "http-names", "empty", "name", "reject", "pod", "none",
}

var cases = []struct{ kase, name string }{
	{"prefix", "a pattern that a pod had before"}, {"new", "a new pattern"}, {"none", "no annotation"},
}

func (r *results) cost() table {
	t := table{
		title: "What does it cost me?",
		note: "CPU time in seconds that a variant adds to the scheduling cycle of one pod. The pattern is `^kubecon-`, which a quarter of the\n" +
			"nodes match.",
	}
	for _, variant := range r.variants {
		measured := r.values[pod("prefix", r.sizes[0], variant).series] != nil
		if measured && !slices.Contains(notInFirst, variant) {
			t.columns = append(t.columns, variant)
		}
	}
	for _, c := range cases {
		for _, nodes := range r.sizes {
			one := row{name: fmt.Sprintf("%s, %d nodes", c.name, nodes)}
			for _, variant := range t.columns {
				one.figures = append(one.figures, pod(c.kase, nodes, variant))
			}
			t.rows = append(t.rows, one)
		}
	}
	return t
}

func (r *results) achieved() table {
	t := table{
		title: "What does a whole scheduler achieve?",
		note: "A whole scheduler with the variant; ÷: over one with none, in the same round; pods of ten kinds. More pods/s are better, and less CPU\n" +
			"time for a pod, which counts the API server and etcd too.",
		columns: []string{"pods/s", "pods/s ÷ none", "CPU time ÷ none"},
	}
	for _, variant := range r.variants {
		for _, nodes := range r.sizes {
			t.rows = append(t.rows, row{name: fmt.Sprintf("%s, %d nodes", variant, nodes), figures: []figure{
				whole("all", nodes, variant, "pods/s"),
				whole("all", nodes, variant, "pods/s").per("none"),
				whole("all", nodes, variant, "cpu-sec/pod").per("none"),
			}})
		}
	}
	return t
}

func (r *results) each() table {
	t := table{
		title: "What does each variant and each floor cost?",
		note:  "CPU time in seconds for one pod, as above. The floors do less than any policy must.",
	}
	for _, nodes := range r.sizes {
		t.columns = append(t.columns, fmt.Sprintf("%d nodes", nodes))
	}
	for _, variant := range r.variants {
		for _, c := range cases {
			one := row{name: variant + ", " + c.name}
			for _, nodes := range r.sizes {
				one.figures = append(one.figures, pod(c.kase, nodes, variant))
			}
			t.rows = append(t.rows, one)
		}
	}
	return t
}

// targets are the bounds of the host and v2.
func (r *results) targets() table {
	t := table{
		title: "Which targets are met?",
		note: "CPU time in seconds, or pods/s of a whole scheduler; ÷: in the same round. Filter runs with a pattern that 3 of 4 nodes match, so\n" +
			"that PreFilter does not name nodes. The first question is a cycle with a new pattern, divided by the nodes.",
		columns: []string{"measured"}, bounded: true,
	}
	for _, nodes := range r.sizes {
		least := 1.2
		if nodes > 1000 {
			least = 1
		}
		for _, target := range []row{
			{"Filter, a pattern that a pod had before, v2 ÷ native", []figure{pod("most", nodes, "v2").per("native")}, bound{most: 1.3}},
			{"first question, for a node, v2", []figure{pod("new", nodes, "v2").per(perNode)}, bound{most: 1.5e-6}},
			{"cycle with a new pattern, v2", []figure{pod("new", nodes, "v2")}, bound{most: 3e-3}},
			{"cycle without annotation, v2", []figure{pod("none", nodes, "v2")}, bound{most: 500e-9}},
			{"cycle with a pattern that a pod had before, v1 ÷ v2", []figure{pod("prefix", nodes, "v1").per("v2")}, bound{most: 1.2}},
			{"whole scheduler, pods/s, v2 ÷ none", []figure{whole("all", nodes, "v2", "pods/s").per("none")}, bound{least: least}},
			{"whole scheduler, pods/s, v2 ÷ native", []figure{whole("all", nodes, "v2", "pods/s").per("native")}, bound{least: 0.98}},
			{"the same, each pod with a new pattern", []figure{whole("new", nodes, "v2", "pods/s").per("native")}, bound{least: 0.8}},
			{"attempts of a pod that is unschedulable, v2", []figure{whole("all", nodes, "v2", "tries")}, bound{most: 3}},
		} {
			target.name = fmt.Sprintf("%s, %d nodes", target.name, nodes)
			t.rows = append(t.rows, target)
		}
	}
	return t
}

// cells are the lines of a table, the first of which is its head. noisy are the rows that
// are not shown, as a figure is too noisy. A row that was not measured is not shown either.
func (r *results) cells(t table) (lines [][]string, noisy []string) {
	head := append([]string{""}, t.columns...)
	if t.bounded {
		head = append(head, "target", "")
	}
	lines = [][]string{head}
rows:
	for _, row := range t.rows {
		line := []string{row.name}
		for _, f := range row.figures {
			text, value := r.cell(f)
			switch {
			case math.IsNaN(value):
				continue rows
			case text == "":
				noisy = append(noisy, row.name)
				continue rows
			}
			line = append(line, text)
			if t.bounded {
				line = append(line, row.bound.String(), row.bound.result(value))
			}
		}
		lines = append(lines, line)
	}
	return lines, noisy
}

// maxNoise is the largest noise of a figure that is shown.
const maxNoise = 0.15

// cell is the median and its noise, in benchstat's words, and the median alone: NaN if it
// was not measured. The text is empty if the figure is too noisy.
func (r *results) cell(f figure) (text string, value float64) {
	var under series
	if f.divisor != "" && f.divisor != perNode {
		under = f.series
		under.variant = f.divisor
	}
	s := r.summary(f.series, under)
	noise := s.PctRangeString()
	value = s.Center
	if math.IsNaN(value) || noise != "∞" && max(s.Hi-value, value-s.Lo) > maxNoise*value {
		return "", value
	}
	if f.divisor == perNode {
		value /= float64(f.nodes)
	}
	text = benchunit.Scale(value, benchunit.Decimal)
	if under != (series{}) {
		text = fmt.Sprintf("%.2f", value)
	}
	if s.Lo < s.Hi && noise != "∞" {
		text += " ±" + noise
	}
	f.unit = "wrong-nodes"
	if r.summary(f.series, series{}).Center > 0 {
		text += " wrong"
	}
	return text, value
}
