package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// figure is what a cell shows: a series, times a factor if there is one, or over that
// of another door in the same round. Row and column each say a part of it.
type figure struct {
	series
	under   string
	factor  float64
	perNode bool
}

func (f figure) with(o figure) figure {
	return figure{
		series: series{
			cmp.Or(f.benchmark, o.benchmark), cmp.Or(f.kase, o.kase), cmp.Or(f.nodes, o.nodes), cmp.Or(f.door, o.door), cmp.Or(f.unit, o.unit),
		},
		under: cmp.Or(f.under, o.under), factor: cmp.Or(f.factor, o.factor), perNode: f.perNode || o.perNode,
	}
}

// part is a row or a column.
type part struct {
	name string
	figure
}

type table struct {
	title, note string
	rows        [][]string // the first is the head
}

func of(benchmark, kase, door, unit string, factor float64) figure {
	return figure{series: series{benchmark: benchmark, kase: kase, door: door, unit: unit}, factor: factor}
}

// pod is the processor time of a pod's cycle.
func pod(kase, door string, factor float64) figure {
	return of("Cycle", kase, door, "cpu-sec/op", factor)
}

// whole is of a whole scheduler.
func whole(kase, door, unit string, factor float64) figure {
	return of("Scheduler", kase, door, unit, factor)
}

// over divides by what another door took.
func (f figure) over(door string) figure {
	f.under = door
	return f
}

func (f figure) aNode() figure {
	f.perNode = true
	return f
}

// tables are all that a person may want to know, the answer first.
func (r *results) tables() []table {
	var policies []string
	for _, door := range r.doors {
		if !slices.Contains(floors, door) && !strings.HasPrefix(door, "v2-asked") { // these are for the targets
			policies = append(policies, door)
		}
	}
	var shares []part
	for _, share := range []string{"0.3", "0.5", "0.6", "0.7", "0.8", "0.9"} {
		shares = append(shares, part{share, of("Naming", share, "named", "", 1).over("looked-at")})
	}
	all := []table{
		r.table("What does a pod cost, by door?", "µs of processor time that a door takes of a pod's scheduling cycle. Remembered: "+
			"there was a pod\nwith this pattern before, `^kubecon-`, which matches a quarter of the nodes. First: there was none.",
			"door", doors(policies, about), r.bySize("Cycle",
				part{"remembered", pod("prefix", "", 1e6)}, part{"first", pod("new", "", 1e6)}, part{"no annotation", pod("none", "", 1e6)})),
		r.table("What does a whole scheduler achieve, by door?", "A whole scheduler with the door over one with none, in the same round; pods of ten kinds. "+
			"More pods/s are better, and less\nprocessor time of a pod, which counts the API server and etcd, too.",
			"door", doors(policies, about), r.bySize("Scheduler",
				part{"pods/s", whole("all", "", "pods/s", 1).over("none")}, part{"processor time", whole("all", "", "cpu-sec/pod", 1).over("none")})),
		r.table("What the host and v2 are held to", "By processor time, or pods/s where a whole scheduler is meant; ÷: in the same round. "+
			"Filter: with a pattern that 3 of 4 nodes\nmatch, so that none is named. First question: a cycle with a new pattern, all in all. "+
			"One by one: the host remembers, and\nasks nevertheless.", "figure (target)", targets, r.bySize("", part{})),
		r.table("A whole scheduler", "Pods of ten kinds. p99: of SchedulePod. Left: not reached in 20 s.",
			"door", doors(r.doors, nil), r.bySize("Scheduler",
				part{"pods/s", whole("all", "", "pods/s", 1)}, part{"p99, ms", whole("all", "", "p99-sec", 1e3)}, part{"left", whole("all", "", "pods-left", 1)})),
		r.table("The floors: what nobody can do without", "µs per cycle. See below.",
			"door", doors(floors, nil), r.bySize("Cycle", part{"prefix", pod("prefix", "", 1e6)}, part{"none", pod("none", "", 1e6)})),
		r.table("A guest", "", "door", doors(policies, nil), []part{
			{"memory of an instance, KiB", figure{series: series{"Cycle", "prefix", 1000, "", "memory-B"}, factor: 1. / 1024}},
			{"start, ms", of("Start", "guest", "", "sec/op", 1e3)},
			{"size, KiB", of("Start", "guest", "", "wasm-B", 1./1024)},
		}),
		r.table("Naming a share of the nodes", "Named ÷ looked at, in the same round.", "share", shares, r.bySize("Naming",
			part{"pods/s", of("", "", "", "pods/s", 0)}, part{"cpu-sec/pod", of("", "", "", "cpu-sec/pod", 0)})),
	}
	return slices.DeleteFunc(all, func(t table) bool { return len(t.rows) < 2 })
}

// about says what the doors are.
var about = map[string]string{
	"none":           "the scheduler without the policy",
	"v1":             "the basic guest",
	"v2":             "the fast guest",
	"native":         "the plugin compiled in",
	"extender":       "over HTTP, sent full nodes",
	"extender-names": "over HTTP, sent nodes' names",
}

// floors do less than any policy must.
var floors = []string{"http", "http-names", "empty", "name", "reject", "pod"}

// targets are what the host and v2 were made to keep.
var targets = []part{
	{"Filter, remembered, v2 ÷ native (≤ 1.3)", pod("most", "v2", 1).over("native")},
	{"first question, ns a node, v2 (≤ 1,500)", pod("new", "v2", 1e9).aNode()},
	{"Filter, asked one by one, ns a node, v2", pod("most", "v2-asked", 1e9).aNode()},
	{"the same, never interrupted", pod("most", "v2-asked-trusted", 1e9).aNode()},
	{"cycle with a new pattern, ms, v2 (≤ 3)", pod("new", "v2", 1e3)},
	{"cycle without annotation, µs, v2 (≤ 0.5)", pod("none", "v2", 1e6)},
	{"second pod with a pattern, v1 ÷ v2 (≤ 1.2)", pod("prefix", "v1", 1).over("v2")},
	{"whole scheduler, v2 ÷ none (≥ 1.2, ≥ 1.0)", whole("all", "v2", "pods/s", 1).over("none")},
	{"whole scheduler, v2 ÷ native (≥ 0.98)", whole("all", "v2", "pods/s", 1).over("native")},
	{"each pod with a new pattern, v2 ÷ native (≥ 0.8)", whole("new", "v2", "pods/s", 1).over("native")},
	{"tries of a pod that no node suits, v2 (≤ 3)", whole("all", "v2", "tries", 1)},
}

// doors are rows of doors, each with what it is.
func doors(names []string, about map[string]string) (rows []part) {
	for _, door := range names {
		rows = append(rows, part{strings.TrimSuffix(door+": "+about[door], ": "), figure{series: series{door: door}}})
	}
	return rows
}

// bySize are columns for each number of nodes of a benchmark.
func (r *results) bySize(benchmark string, columns ...part) (all []part) {
	for _, n := range r.sizes(benchmark) {
		for _, c := range columns {
			c.nodes = n
			c.name = strings.TrimPrefix(c.name+", "+thousands(n)+" nodes", ", ")
			all = append(all, c)
		}
	}
	return all
}

// table fills the cells in, and leaves out rows and columns without any.
func (r *results) table(title, note, corner string, rows, columns []part) table {
	empty := func(row, column part) bool { return r.cell(row.with(column.figure)) == "" }
	columns = slices.DeleteFunc(columns, func(c part) bool {
		return !slices.ContainsFunc(rows, func(row part) bool { return !empty(row, c) })
	})
	t := table{title: title, note: note, rows: [][]string{{corner}}}
	for _, c := range columns {
		t.rows[0] = append(t.rows[0], c.name)
	}
	for _, row := range rows {
		if !slices.ContainsFunc(columns, func(c part) bool { return !empty(row, c) }) {
			continue
		}
		cells := []string{row.name}
		for _, c := range columns {
			cells = append(cells, cmp.Or(r.cell(row.with(c.figure)), nothing))
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

const nothing = "–"

// maxNoise is how noisy a figure may be that is told.
const maxNoise = 0.15

func (r *results) cell(f figure) string {
	s, factor := r.of(f.series), cmp.Or(f.factor, 1)
	if f.under != "" {
		under := f.series
		under.door = f.under
		s = r.ratio(f.series, under)
	}
	if f.perNode {
		factor /= float64(f.nodes)
	}
	noise := max(s.Hi-s.Center, s.Center-s.Lo)
	switch {
	case math.IsNaN(s.Center): // not measured
		return ""
	case noise > maxNoise*s.Center:
		return nothing
	}
	text := number(s.Center * factor)
	if noise > 0 {
		text += fmt.Sprintf(" ±%.0f%%", math.Ceil(100*noise/s.Center))
	}
	f.unit = "wrong-nodes"
	if r.of(f.series).Center > 0 {
		text += " wrong"
	}
	return text
}

// number shows three digits that count.
func number(v float64) string {
	switch {
	case v == math.Trunc(v) || v >= 99.95:
		return thousands(int(math.Round(v)))
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// markdown is the table for a page and, being aligned, for a terminal.
func (t table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "## %s\n\n", t.title)
	w := tabwriter.NewWriter(b, 0, 0, 1, ' ', 0)
	for i, row := range t.rows {
		fmt.Fprintf(w, "| %s\t|\n", strings.Join(row, "\t| "))
		if i == 0 {
			fmt.Fprintf(w, "|---\t|%s\n", strings.Repeat("--:\t|", len(row)-1))
		}
	}
	w.Flush()
	if t.note != "" {
		fmt.Fprintf(b, "\n%s\n", t.note)
	}
	b.WriteString("\n")
}
