package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/perf/benchmath"
)

// table is rows of text under a head.
type table struct {
	title, note string
	rows        [][]string // the first is the head
}

// column is a series of each door, in a unit.
type column struct {
	name   string
	of     series // without the door
	factor float64
}

// tables are all that a person may want to know, the answer first.
func (r *results) tables() []table {
	cpu := func(name, kase string, n int, factor float64) column {
		return column{name, series{"Cycle", kase, n, "", "cpu-sec/op"}, factor}
	}
	var answer, perNode, perPod, byClock []column
	for _, n := range r.sizes("Cycle") {
		if n >= 1000 {
			answer = append(answer, cpu("µs per pod, "+thousands(n)+" nodes", "prefix", n, 1e6))
		}
		byClock = append(byClock, column{thousands(n) + " nodes", series{"Cycle", "prefix", n, "", "sec/op"}, 1e6})
		for _, kase := range []string{"prefix", "two-names", "none"} {
			perPod = append(perPod, cpu(kase+", "+thousands(n), kase, n, 1e6))
		}
	}
	answer = append(answer, cpu("µs without annotation", "none", 1000, 1e6))
	perPod = append(perPod, cpu("invalid, 1,000", "invalid", 1000, 1e6))
	for _, n := range r.sizes("Scheduler") {
		answer = append(answer, column{"pods/s, " + thousands(n) + " nodes", series{"Scheduler", "all", n, "", "pods/s"}, 1})
	}
	for _, n := range r.sizes("ParallelCycle") {
		byClock = append(byClock, column{thousands(n) + ", all processors", series{"ParallelCycle", "prefix", n, "", "sec/op"}, 1e6})
	}
	for _, pattern := range []string{"prefix", "suffix", "literal", "class", "alternation-3", "alternation-100", "ignore-case", "anything"} {
		perNode = append(perNode, cpu(pattern, pattern, 1000, 1e6)) // 1e9 ns for 1,000 nodes
	}
	memory := []column{
		{"allocations per node", series{"Cycle", "prefix", 1000, "", "allocs/op"}, 1e-3},
		{"bytes allocated per node", series{"Cycle", "prefix", 1000, "", "B/op"}, 1e-3},
		{"memory of an instance, KiB", series{"Cycle", "prefix", 1000, "", "memory-B"}, 1. / 1024},
		{"start, ms", series{"Start", "guest", 0, "", "sec/op"}, 1e3},
		{"size, KiB", series{"Start", "guest", 0, "", "wasm-B"}, 1. / 1024},
	}
	cost := r.byDoor(r.policies(), "What does each door cost me?", "µs per pod: what the policy takes of a scheduling cycle that asks about every node, "+
		"pattern `^kubecon-`, in time of the processors. pods/s: a whole scheduler, pods of ten kinds, "+
		"with the API server and etcd on the same machine. ±: where the median lies with a confidence of 95%, or of what the rounds allow.", answer)
	for _, row := range cost.rows[1:] {
		row[0] = strings.TrimSuffix(row[0]+": "+about[row[0]], ": ")
	}
	all := []table{
		cost,
		r.sideBySide(),
		r.byDoor(r.doors, "A cycle, ns per node, 1,000 nodes, by pattern", "", perNode),
		r.byDoor(r.doors, "A cycle, µs per pod, by pattern and nodes", "", perPod),
		r.byDoor(r.doors, "A cycle by the clock, µs per pod, pattern `prefix`", "A machine that is busy with something else stretches these.", byClock),
		r.schedulers(),
		r.byDoor(r.doors, "Memory, pattern `prefix`, 1,000 nodes, and the start of a guest", "An extender's allocations are those of both sides.", memory),
	}
	return slices.DeleteFunc(all, func(t table) bool { return len(t.rows) < 2 })
}

// about says what the doors are.
var about = map[string]string{
	"none":             "the scheduler without the policy",
	"v1":               "the basic guest",
	"v2":               "the fast guest",
	"native":           "the plugin compiled in",
	"native-recompile": "if it compiled the regex for each node",
	"extender":         "over HTTP, sent full nodes",
	"extender-names":   "over HTTP, sent nodes' names",
}

// floors do less than any policy must.
var floors = []string{"http", "http-names", "empty", "name", "reject", "pod"}

func (r *results) policies() []string {
	return slices.DeleteFunc(slices.Clone(r.doors), func(door string) bool { return slices.Contains(floors, door) })
}

// measured reports whether any door has a series.
func (r *results) measured(s series) bool {
	return slices.ContainsFunc(r.doors, func(door string) bool {
		s.door = door
		return len(r.values[s]) > 0
	})
}

func (r *results) byDoor(doors []string, title, note string, columns []column) table {
	columns = slices.DeleteFunc(columns, func(c column) bool { return !r.measured(c.of) })
	t := table{title: title, note: note, rows: [][]string{{"door"}}}
	for _, c := range columns {
		t.rows[0] = append(t.rows[0], c.name)
	}
	for _, door := range doors {
		cells := []string{door}
		for _, c := range columns {
			c.of.door = door
			cells = append(cells, r.cell(c.of, c.factor))
		}
		t.add(cells)
	}
	return t
}

// sideBySide has the ratios of doors that do the same, or nearly.
func (r *results) sideBySide() table {
	var columns []column
	for _, n := range r.sizes("Cycle") {
		columns = append(columns, column{"cycle, " + thousands(n) + " nodes", series{"Cycle", "prefix", n, "", "cpu-sec/op"}, 1})
	}
	for _, n := range r.sizes("Scheduler") {
		columns = append(columns, column{"pods/s, " + thousands(n) + " nodes", series{"Scheduler", "all", n, "", "pods/s"}, 1})
	}
	t := table{title: "Side by side: one door over another, in the same round", rows: [][]string{{"doors"}}}
	for _, c := range columns {
		t.rows[0] = append(t.rows[0], c.name)
	}
	for _, pair := range r.pairs() {
		cells := []string{pair[0] + " / " + pair[1]}
		for _, c := range columns {
			over, under := c.of, c.of
			over.door, under.door = pair[0], pair[1]
			cells = append(cells, show(r.ratio(over, under), 1))
		}
		t.add(cells)
	}
	return t
}

func (r *results) pairs() [][2]string {
	pairs := [][2]string{
		{"v2", "native"},
		{"v2", "name"},
		{"v2", "reject"},
		{"v1", "v2"},
		{"native-recompile", "native"},
		{"extender", "http"},
		{"extender-names", "http-names"},
		{"extender", "extender-names"},
	}
	for _, door := range r.doors {
		if len(r.values[series{"Cycle", "prefix", 1000, door, "wrong-nodes"}]) > 0 { // a guest from elsewhere
			pairs = append(pairs, [2]string{door, "v2"})
		}
	}
	return pairs
}

func (r *results) schedulers() table {
	t := table{
		title: "A whole scheduler",
		note: "A cycle is SchedulePod: all plugins and extenders, filtering and scoring, without the binding. Pods that were not reached " +
			"in 20 s are not among pods/s.",
		rows: [][]string{{"nodes, door", "pods/s", "cycle p50, ms", "p90, ms", "p99, ms", "pods not reached"}},
	}
	for _, n := range r.sizes("Scheduler") {
		for _, door := range r.doors {
			at := func(unit string) series { return series{"Scheduler", "all", n, door, unit} }
			t.add([]string{
				thousands(n) + ", " + door, r.cell(at("pods/s"), 1), r.cell(at("p50-sec"), 1e3),
				r.cell(at("p90-sec"), 1e3), r.cell(at("p99-sec"), 1e3), r.cell(at("pods-left"), 1),
			})
		}
	}
	return t
}

// add adds a row that says something.
func (t *table) add(cells []string) {
	if slices.ContainsFunc(cells[1:], func(cell string) bool { return cell != nothing }) {
		t.rows = append(t.rows, cells)
	}
}

const nothing = "–"

func (r *results) cell(s series, factor float64) string {
	text := show(r.of(s), factor)
	s.unit = "wrong-nodes"
	if r.of(s).Center > 0 {
		text += " wrong"
	}
	return text
}

func show(s benchmath.Summary, factor float64) string {
	text := number(s.Center * factor)
	if s.Lo < s.Hi {
		text += " ±" + s.PctRangeString()
	}
	return text
}

// number shows three digits that count.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return nothing
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
func (t table) markdown() string {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 4)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", t.title)
	for i, row := range t.rows {
		fmt.Fprintf(&b, "| %-*s |", widths[0], row[0])
		for k, cell := range row[1:] {
			fmt.Fprintf(&b, " %*s |", widths[k+1], cell)
		}
		b.WriteString("\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat("-", widths[0]+2) + "|")
			for _, w := range widths[1:] {
				b.WriteString(strings.Repeat("-", w+1) + ":|")
			}
			b.WriteString("\n")
		}
	}
	if t.note != "" {
		fmt.Fprintf(&b, "\n%s\n", t.note)
	}
	return b.String()
}
