package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchunit"
)

// figure is what a cell shows: a series, or that divided by another variant's in the same
// round, or by the nodes.
type figure struct {
	series         // but for its number of nodes
	divisor string // "", a variant, or perNode
}

const perNode = "node"

// row has a figure for each column.
type row struct {
	name    string
	figures []figure
	bounds  []bound // of the figures, for 1,000 nodes and for 5,000, or for both
}

// bound is what a figure is held to. Zero is none.
type bound struct{ most, least float64 }

// missed marks a figure beyond its bound.
func (r row) missed(value float64, nodes int) string {
	if len(r.bounds) == 0 || math.IsNaN(value) {
		return ""
	}
	b := r.bounds[0]
	if nodes > 1000 {
		b = r.bounds[len(r.bounds)-1]
	}
	if b.most > 0 && value > b.most || value < b.least {
		return " **missed**"
	}
	return ""
}

// table has its columns once for each number of nodes.
type table struct {
	title, note string
	columns     []string
	rows        []row
}

// pod is the processor time of a pod's cycle.
func pod(kase, variant string) figure {
	return figure{series: series{benchmark: "Cycle", kase: kase, variant: variant, unit: "cpu-sec/op"}}
}

// whole is of a whole scheduler.
func whole(kase, variant, unit string) figure {
	return figure{series: series{benchmark: "Scheduler", kase: kase, variant: variant, unit: unit}}
}

func (f figure) per(divisor string) figure {
	f.divisor = divisor
	return f
}

// tables are the answers to what a person may want to know first. benchstat has the rest.
func (r *results) tables() []table {
	cost := table{
		"What does a pod cost, by variant?", "Seconds of processor time that a variant takes of a pod's scheduling cycle. Remembered: there was a pod with this\n" +
			"pattern before, `^kubecon-`, which matches a quarter of the nodes. First: there was none.",
		[]string{"remembered", "first", "no annotation"},
		nil,
	}
	achieved := table{
		"What does a whole scheduler achieve, by variant?", "A whole scheduler with the variant; ÷: over one with none, in the same round; pods of ten " +
			"kinds. More pods/s are better, and less\nprocessor time of a pod, which counts the API server and etcd, too.",
		[]string{"pods/s", "pods/s ÷ none", "processor time ÷ none"},
		nil,
	}
	for _, variant := range r.variants {
		cost.rows = append(cost.rows, row{variant, []figure{pod("prefix", variant), pod("new", variant), pod("none", variant)}, nil})
		achieved.rows = append(achieved.rows, row{variant, []figure{
			whole("all", variant, "pods/s"), whole("all", variant, "pods/s").per("none"), whole("all", variant, "cpu-sec/pod").per("none"),
		}, nil})
	}
	return []table{cost, achieved, {
		"What the host and v2 are held to", "By processor time in seconds, or pods/s where a whole scheduler is meant; ÷: in the same round. " +
			"Filter: with a pattern that 3 of 4 nodes\nmatch, so that none is named. First question: a cycle with a new pattern, all in all. " +
			"One by one: the host remembers, and\nasks nevertheless.",
		[]string{""},
		targets,
	}}
}

// targets are what the host and v2 were made to keep.
var targets = []row{
	{"Filter, remembered, v2 ÷ native (≤ 1.3)", []figure{pod("most", "v2").per("native")}, []bound{{most: 1.3}}},
	{"first question, for a node, v2 (≤ 1.5µ)", []figure{pod("new", "v2").per(perNode)}, []bound{{most: 1.5e-6}}},
	{"Filter, asked one by one, for a node, v2", []figure{pod("most", "v2-asked").per(perNode)}, nil},
	{"the same, never interrupted", []figure{pod("most", "v2-asked-trusted").per(perNode)}, nil},
	{"cycle with a new pattern, v2 (≤ 3m)", []figure{pod("new", "v2")}, []bound{{most: 3e-3}}},
	{"cycle without annotation, v2 (≤ 500n)", []figure{pod("none", "v2")}, []bound{{most: 500e-9}}},
	{"second pod with a pattern, v1 ÷ v2 (≤ 1.2)", []figure{pod("prefix", "v1").per("v2")}, []bound{{most: 1.2}}},
	{"whole scheduler, v2 ÷ none (≥ 1.2, ≥ 1.0)", []figure{whole("all", "v2", "pods/s").per("none")}, []bound{{least: 1.2}, {least: 1}}},
	{"whole scheduler, v2 ÷ native (≥ 0.98)", []figure{whole("all", "v2", "pods/s").per("native")}, []bound{{least: 0.98}}},
	{"each pod with a new pattern, v2 ÷ native (≥ 0.8)", []figure{whole("new", "v2", "pods/s").per("native")}, []bound{{least: 0.8}}},
	{"tries of a pod that no node suits, v2 (≤ 3)", []figure{whole("all", "v2", "tries")}, []bound{{most: 3}}},
}

// cells are the lines of a table, the first of which is its head, without the rows and
// columns in which nothing was measured.
func (r *results) cells(t table) [][]string {
	lines := [][]string{{""}}
	for _, row := range t.rows {
		lines = append(lines, []string{row.name})
	}
	measured := map[string]bool{"": true}
	for _, nodes := range r.sizes {
		for i, column := range t.columns {
			cells := []string{strings.TrimPrefix(fmt.Sprintf("%s, %d nodes", column, nodes), ", ")}
			for _, row := range t.rows {
				text, value := r.cell(row.figures[i], nodes)
				if text != "" && text != nothing {
					text += row.missed(value, nodes)
				}
				cells = append(cells, text)
				measured[row.name] = measured[row.name] || cells[len(cells)-1] != ""
			}
			if strings.Join(cells[1:], "") == "" {
				continue
			}
			for k, cell := range cells {
				lines[k] = append(lines[k], cmp.Or(cell, nothing))
			}
		}
	}
	return slices.DeleteFunc(lines, func(line []string) bool { return !measured[line[0]] })
}

const nothing = "–"

// maxNoise is how noisy a figure that is shown may be.
const maxNoise = 0.15

// cell is the median and its noise, in benchstat's words. It is empty for what was not
// measured. value is the median alone.
func (r *results) cell(f figure, nodes int) (text string, value float64) {
	f.nodes = nodes
	var under series
	if f.divisor != "" && f.divisor != perNode {
		under = f.series
		under.variant = f.divisor
	}
	s := r.summary(f.series, under)
	noise := s.PctRangeString()
	value = s.Center
	switch {
	case math.IsNaN(value):
		return "", value
	case noise != "∞" && max(s.Hi-value, value-s.Lo) > maxNoise*value:
		return nothing, value
	case f.divisor == perNode:
		value /= float64(nodes)
	}
	text = benchunit.Scale(value, benchunit.Decimal)
	if under != (series{}) {
		text = fmt.Sprintf("%.2f", value)
	}
	if s.Lo < s.Hi {
		text += " ±" + noise
	}
	f.unit = "wrong-nodes"
	if r.summary(f.series, series{}).Center > 0 {
		text += " wrong"
	}
	return text, value
}
