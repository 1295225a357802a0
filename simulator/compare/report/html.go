package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
)

// HTML writes the result as a page that is a file of its own.
func HTML(w io.Writer, r *compare.Result) error {
	return page.Execute(w, struct {
		*compare.Result
		Style  template.CSS
		Script template.JS
		Rows   []compare.Difference
		More   int
	}{r, template.CSS(style), template.JS(script), rows(r), max(0, len(r.Differences)+len(r.Nowhere)-most)})
}

// most is how many pods the page lists: a browser is slow with more, and so is
// who reads them.
const most = 3000

func rows(r *compare.Result) []compare.Difference {
	all := slices.Concat(r.Differences, r.Nowhere)
	return all[:min(most, len(all))]
}

// folds is true of what a reader may do without: what follows from others, unless the
// pod has lost its node.
func folds(d compare.Difference) bool { return d.Follows && d.Kind != compare.OnlyA }

// direct are those that are left.
func direct(rows []compare.Difference) []compare.Difference {
	return slices.DeleteFunc(slices.Clone(rows), folds)
}

// unplaced are as many as the page lists.
func unplaced(r *compare.Result) []compare.Difference {
	return r.Unplaced[:min(most, len(r.Unplaced))]
}

//go:embed report.html
var layout string

//go:embed report.css
var style string

//go:embed report.js
var script string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"verdict": Verdict, "scheduled": scheduled, "where": where, "why": why, "brief": brief, "cores": cores, "gib": gibibytes,
	"words":   func(k compare.Kind) string { return words[k] },
	"percent": func(p float64) string { return fmt.Sprintf("%.1f", p) },
	"date":    func() string { return time.Now().Format("2 January 2006, 15:04") },
	"sub":     func(low, high float64) float64 { return high - low },
	"direct":  direct, "folds": folds, "unplaced": unplaced,
	"shares": shares, "ranges": ranges, "heat": heat, "runs": runs,
}).Parse(layout))

// share is a part of the bar of all pods.
type share struct {
	Class, Word string
	Count       int
	X, Width    float64 // in percent
}

// shares are how many pods came out how. What is there is wide enough to be seen.
func shares(r *compare.Result) []share {
	run := r.Runs[0]
	all := []share{
		{Class: "unplaced", Word: "without a node under A, though they ran", Count: run.Unplaced},
		{Class: "onlyA", Word: "only under A", Count: run.OnlyA},
		{Class: "onlyB", Word: "only under B", Count: run.OnlyB},
		{Class: "elsewhere", Word: "elsewhere", Count: run.Elsewhere - run.Follows},
		{Class: "follows", Word: "elsewhere, which follows from others", Count: run.Follows},
		{Class: "nowhere", Word: "nowhere", Count: run.Nowhere},
		{Class: "tie", Word: "ties", Count: run.Ties},
		{Class: "same", Word: "the same", Count: run.Same},
	}
	sum := 0.0
	for i := range all {
		if all[i].Count > 0 {
			all[i].Width = float64(all[i].Count)
			sum += all[i].Width
		}
	}
	wide := 0.0
	for i := range all {
		if all[i].Count > 0 {
			all[i].Width = math.Max(.6, 100*all[i].Width/sum)
			wide += all[i].Width
		}
	}
	x := 0.0
	for i := range all {
		all[i].X, all[i].Width = x, all[i].Width*100/math.Max(wide, 1)
		x += all[i].Width
	}
	return all
}

// span is how uneven a resource is on a side, for a row of the table with its picture.
type span struct {
	Resource, Side string
	First          bool // of its resource
	compare.Spread
	From, To float64 // of the deviation about the mean, within the range
}

func ranges(l compare.Loads) []span {
	var all []span
	for _, resource := range []struct {
		name string
		of   func(compare.Load) compare.Spread
	}{
		{"CPU", func(l compare.Load) compare.Spread { return l.CPU }},
		{"Memory", func(l compare.Load) compare.Spread { return l.Memory }},
		{"Pods", func(l compare.Load) compare.Spread { return l.Pods }},
	} {
		for i, side := range []compare.Load{l.Before, l.A, l.B} {
			s := resource.of(side)
			all = append(all, span{
				Resource: resource.name, Side: []string{"before", "A", "B"}[i], First: i == 0, Spread: s,
				From: math.Max(s.Min, s.Mean-s.StandardDeviation), To: math.Min(s.Max, s.Mean+s.StandardDeviation),
			})
		}
	}
	return all
}

// field is the nodes as squares, each as dark as its CPU is requested.
type field struct {
	Title         string
	Width, Height int
	Cells         []cell
	compare.Load
}

type cell struct {
	X, Y    int
	Opacity string
	Changed bool // other than under A
	Title   string
}

// pitch is the side of a square with the gap beside it.
const pitch = 10

// heat draws the nodes before, under A and under B, by name, so that a node is at
// the same place in each.
func heat(l compare.Loads) []field {
	columns := int(math.Ceil(math.Sqrt(float64(max(len(l.Nodes), 1)) * 1.6)))
	most := max(l.Before.CPU.Max, l.A.CPU.Max, l.B.CPU.Max, 1)
	fields := []field{{Title: "Before", Load: l.Before}, {Title: "A", Load: l.A}, {Title: "B", Load: l.B}}
	for i := range fields {
		fields[i].Width, fields[i].Height = columns*pitch, (len(l.Nodes)+columns-1)/columns*pitch
		for n, node := range l.Nodes {
			used := []compare.Amount{node.Before, node.A, node.B}[i]
			percent := compare.Percent(used.CPU, node.Has.CPU)
			fields[i].Cells = append(fields[i].Cells, cell{
				X: n % columns * pitch, Y: n / columns * pitch,
				Opacity: fmt.Sprintf("%.2f", percent/most),
				Changed: i == 2 && node.A != node.B,
				Title: fmt.Sprintf("%s: %.0f %% of %s CPUs, %s of %s GiB, %d pods", node.Node, percent, cores(node.Has.CPU),
					gibibytes(used.Memory), gibibytes(node.Has.Memory), used.Pods),
			})
		}
	}
	return fields
}
