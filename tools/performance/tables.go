package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// table is rows of text under a head.
type table struct {
	title, note string
	rows        [][]string // the first is the head
}

// figure is a series of a door, in a unit, or what it is of another door's in the
// same round.
type figure struct {
	series
	under  string
	factor float64
}

func cycle(kase, door string, n int, factor float64) figure {
	return figure{series{"Cycle", kase, n, door, "cpu-sec/op"}, "", factor}
}

func whole(kase, door string, n int, unit string, factor float64) figure {
	return figure{series{"Scheduler", kase, n, door, unit}, "", factor}
}

// over divides by what another door took.
func (f figure) over(door string) figure {
	f.under, f.factor = door, 1
	return f
}

// column is a figure of each door.
type column struct {
	name string
	of   figure // without the door
}

// tables are all that a person may want to know, the answer first.
func (r *results) tables() []table {
	var pod, floor, rate, scheduler []column
	for _, n := range r.sizes("Cycle") {
		size := ", " + thousands(n) + " nodes"
		pod = append(pod, column{"remembered" + size, cycle("prefix", "", n, 1e6)}, column{"first" + size, cycle("new", "", n, 1e6)})
		floor = append(floor, column{"prefix" + size, cycle("prefix", "", n, 1e6)}, column{"none" + size, cycle("none", "", n, 1e6)})
	}
	for _, n := range r.sizes("Scheduler") {
		size := ", " + thousands(n) + " nodes"
		rate = append(rate, column{"pods/s" + size, whole("all", "", n, "pods/s", 1).over("none")},
			column{"processor time" + size, whole("all", "", n, "cpu-sec/pod", 1).over("none")})
		scheduler = append(scheduler, column{"pods/s" + size, whole("all", "", n, "pods/s", 1)}, column{"p99, ms" + size, whole("all", "", n, "p99-sec", 1e3)},
			column{"left" + size, whole("all", "", n, "pods-left", 1)})
	}
	for _, n := range r.sizes("Cycle") {
		pod = append(pod, column{"no annotation, " + thousands(n) + " nodes", cycle("none", "", n, 1e6)})
	}
	memory := []column{
		{"memory of an instance, KiB", figure{series{"Cycle", "prefix", 1000, "", "memory-B"}, "", 1. / 1024}},
		{"start, ms", figure{series{"Start", "guest", 0, "", "sec/op"}, "", 1e3}},
		{"size, KiB", figure{series{"Start", "guest", 0, "", "wasm-B"}, "", 1. / 1024}},
	}
	all := []table{
		r.byDoor(r.policies(), "What does a pod cost, by door?", "µs of processor time that a door takes of a pod's scheduling cycle. Remembered: "+
			"there was a pod\nwith this pattern before, `^kubecon-`, which matches a quarter of the nodes. First: there was none.", pod),
		r.byDoor(r.policies(), "What does a whole scheduler achieve, by door?", "A whole scheduler with the door over one with none, in the same round; pods of ten kinds. "+
			"More pods/s are better, and less\nprocessor time of a pod, which counts the API server and etcd, too.", rate),
		r.targets(),
		r.byDoor(r.doors, "A whole scheduler", "Pods of ten kinds. p99: of SchedulePod. Left: not reached in 20 s.", scheduler),
		r.byDoor(floors, "The floors: what nobody can do without", "µs per cycle. See below.", floor),
		r.byDoor(r.policies(), "A guest", "", memory),
		r.shares(),
	}
	for _, t := range all[:2] {
		for _, row := range t.rows[1:] {
			row[0] = strings.TrimSuffix(row[0]+": "+about[row[0]], ": ")
		}
	}
	for i := range all {
		all[i].compact()
	}
	return slices.DeleteFunc(all, func(t table) bool { return len(t.rows) < 2 })
}

// compact leaves out rows and columns that say nothing.
func (t *table) compact() {
	says := func(cell string) bool { return cell != "" }
	told := t.rows[:1]
	for _, row := range t.rows[1:] {
		if slices.ContainsFunc(row[1:], says) {
			told = append(told, row)
		}
	}
	t.rows = told
	for i := len(t.rows[0]) - 1; i > 0; i-- {
		if !slices.ContainsFunc(t.rows[1:], func(row []string) bool { return says(row[i]) }) {
			for k := range t.rows {
				t.rows[k] = slices.Delete(t.rows[k], i, i+1)
			}
		}
	}
}

// about says what the doors are.
var about = map[string]string{
	"none":             "the scheduler without the policy",
	"v1":               "the basic guest",
	"v2":               "the fast guest",
	"v2-asked":         "v2, asked anew each time",
	"v2-asked-trusted": "and never interrupted",
	"native":           "the plugin compiled in",
	"extender":         "over HTTP, sent full nodes",
	"extender-names":   "over HTTP, sent nodes' names",
}

// floors do less than any policy must.
var floors = []string{"http", "http-names", "empty", "name", "reject", "pod"}

func (r *results) policies() []string {
	return slices.DeleteFunc(slices.Clone(r.doors), func(door string) bool {
		return slices.Contains(floors, door) || strings.HasPrefix(door, "v2-asked") // these are for the targets
	})
}

func (r *results) byDoor(doors []string, title, note string, columns []column) table {
	t := table{title: title, note: note, rows: [][]string{{"door"}}}
	for _, c := range columns {
		t.rows[0] = append(t.rows[0], c.name)
	}
	for _, door := range doors {
		cells := []string{door}
		for _, c := range columns {
			c.of.door = door
			cells = append(cells, r.cell(c.of))
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

// targets are what the host and v2 were made to keep.
func (r *results) targets() table {
	t := table{
		title: "What the host and v2 are held to", rows: [][]string{{"figure (target)"}},
		note: "By processor time, or pods/s where a whole scheduler is meant; ÷: in the same round. Filter: with a pattern that 3 of 4 nodes\n" +
			"match, so that none is named. First question: a cycle with a new pattern, all in all. One by one: the host remembers, and\n" +
			"asks nevertheless.",
	}
	rows := []struct {
		name string
		of   func(n int) figure
	}{
		{"Filter, remembered, v2 ÷ native (≤ 1.3)", func(n int) figure { return cycle("most", "v2", n, 1).over("native") }},
		{"first question, ns a node, v2 (≤ 1,500)", func(n int) figure { return cycle("new", "v2", n, 1e9/float64(n)) }},
		{"Filter, asked one by one, ns a node, v2", func(n int) figure { return cycle("most", "v2-asked", n, 1e9/float64(n)) }},
		{"the same, never interrupted", func(n int) figure { return cycle("most", "v2-asked-trusted", n, 1e9/float64(n)) }},
		{"cycle with a new pattern, ms, v2 (≤ 3)", func(n int) figure { return cycle("new", "v2", n, 1e3) }},
		{"cycle without annotation, µs, v2 (≤ 0.5)", func(n int) figure { return cycle("none", "v2", n, 1e6) }},
		{"second pod with a pattern, v1 ÷ v2 (≤ 1.2)", func(n int) figure { return cycle("prefix", "v1", n, 1).over("v2") }},
		{"whole scheduler, v2 ÷ none (≥ 1.2, ≥ 1.0)", func(n int) figure { return whole("all", "v2", n, "pods/s", 1).over("none") }},
		{"whole scheduler, v2 ÷ native (≥ 0.98)", func(n int) figure { return whole("all", "v2", n, "pods/s", 1).over("native") }},
		{"each pod with a new pattern, v2 ÷ native (≥ 0.8)", func(n int) figure { return whole("new", "v2", n, "pods/s", 1).over("native") }},
		{"tries of a pod that no node suits, v2 (≤ 3)", func(n int) figure { return whole("all", "v2", n, "tries", 1) }},
	}
	for _, n := range r.sizes("") {
		t.rows[0] = append(t.rows[0], thousands(n)+" nodes")
	}
	for _, row := range rows {
		cells := []string{row.name}
		for _, n := range r.sizes("") {
			cells = append(cells, r.cell(row.of(n)))
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

// shares are of which share of the nodes it is worth to name them.
func (r *results) shares() table {
	var columns []column
	for _, n := range r.sizes("Naming") {
		for _, unit := range []string{"pods/s", "cpu-sec/pod"} {
			columns = append(columns, column{unit + ", " + thousands(n) + " nodes", figure{series{"Naming", "", n, "named", unit}, "looked-at", 1}})
		}
	}
	t := table{title: "Naming a share of the nodes", note: "Named ÷ looked at, in the same round.", rows: [][]string{{"share"}}}
	for _, c := range columns {
		t.rows[0] = append(t.rows[0], c.name)
	}
	for _, share := range []string{"0.3", "0.5", "0.6", "0.7", "0.8", "0.9"} {
		cells := []string{share}
		for _, c := range columns {
			c.of.kase = share
			cells = append(cells, r.cell(c.of))
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

const nothing = "–"

// maxNoise is how noisy a figure may be that is told.
const maxNoise = 0.15

func (r *results) cell(f figure) string {
	s := r.of(f.series)
	if f.under != "" {
		under := f.series
		under.door = f.under
		s = r.ratio(f.series, under)
	}
	noise := max(s.Hi-s.Center, s.Center-s.Lo)
	switch {
	case math.IsNaN(s.Center): // not measured
		return ""
	case noise > maxNoise*s.Center:
		return nothing
	}
	text := number(s.Center * f.factor)
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
			fmt.Fprintf(&b, " %*s |", widths[k+1], cmp.Or(cell, nothing))
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
