package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
)

// HTML writes the result as a page that is a file of its own.
func HTML(w io.Writer, r *compare.Result) error { return Page(w, r, "") }

// Page is HTML with a link to where the other results are.
func Page(w io.Writer, r *compare.Result, home string) error {
	rows := slices.Concat(r.Differences, r.Nowhere)
	shown := min(most, len(rows))
	return page.Execute(w, struct {
		*compare.Result
		Home   string
		Style  template.CSS
		Script template.JS
		Rows   []compare.Difference
		More   int
	}{r, home, template.CSS(style), template.JS(script), rows[:shown], len(rows) - shown})
}

// most is how many pods the page lists: a browser is slow with more, and so is
// who reads them.
const most = 3000

// folds is true of what a reader may do without: what follows from others, unless the
// pod has lost its node.
func folds(d compare.Difference) bool { return d.Follows && d.Kind != compare.OnlyA }

func direct(rows []compare.Difference) []compare.Difference {
	return slices.DeleteFunc(slices.Clone(rows), folds)
}

// scored are the two nodes that a pod has, each with its scores on one side.
type scored struct {
	Plugins []recorder.ScoreColumn
	Nodes   []recorder.NodeScore
}

// scores are nil where no scores have decided.
func scores(d compare.Difference, side compare.Outcome) *scored {
	if d.Cause != compare.Score || side.Attempt == nil {
		return nil
	}
	others := func(row recorder.NodeScore) bool { return row.Node != d.A.Node && row.Node != d.B.Node }
	return &scored{side.Attempt.ScoreColumns, slices.DeleteFunc(side.Attempt.Scores(), others)}
}

//go:embed report.html
var layout string

//go:embed report.css
var style string

//go:embed report.js
var script string

// Policy is the Content-Security-Policy that lets the page do what it does, and
// nothing else.
var Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	digest(style), digest(script))

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"verdict": Verdict, "scheduled": scheduled, "where": where, "why": why, "brief": Brief, "cores": cores, "gib": gibibytes,
	"words":   func(k compare.Kind) string { return words[k] },
	"percent": func(p float64) string { return fmt.Sprintf("%.1f", p) },
	"date":    func() string { return time.Now().Format("2 January 2006, 15:04") },
	"sub":     func(low, high float64) float64 { return high - low },
	"first":   func(all []compare.Difference) []compare.Difference { return all[:min(most, len(all))] },
	"direct":  direct, "folds": folds, "scores": scores, "shares": newShares, "ranges": ranges, "heat": heat, "runs": runs,
}).Parse(layout))

// shares are the bar of all pods. X and Width are in pods.
type shares struct {
	All   []share
	Width float64
}

type share struct {
	Class, Word string
	Count       int
	X, Width    float64
}

// newShares are how many pods came out how. What is there is wide enough to be seen.
func newShares(r *compare.Result) (bar shares) {
	run, pods := r.Runs[0], 0
	bar.All = []share{
		{Class: "unplaced", Word: "without a node under A, though they ran", Count: run.Unplaced},
		{Class: "onlyA", Word: "only under A", Count: run.OnlyA},
		{Class: "onlyB", Word: "only under B", Count: run.OnlyB},
		{Class: "elsewhere", Word: "elsewhere", Count: run.Elsewhere - run.Follows},
		{Class: "follows", Word: "elsewhere, which follows from others", Count: run.Follows},
		{Class: "nowhere", Word: "nowhere", Count: run.Nowhere},
		{Class: "tie", Word: "ties", Count: run.Ties},
		{Class: "same", Word: "the same", Count: run.Same},
	}
	for _, one := range bar.All {
		pods += one.Count
	}
	for i := range bar.All {
		if one := &bar.All[i]; one.Count > 0 {
			one.X, one.Width = bar.Width, max(float64(one.Count), .006*float64(pods))
			bar.Width += one.Width
		}
	}
	return bar
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
	for i, resource := range []string{"CPU", "Memory", "Pods"} {
		for j, load := range []compare.Load{l.Before, l.A, l.B} {
			s := []compare.Spread{load.CPU, load.Memory, load.Pods}[i]
			all = append(all, span{
				Resource: resource, Side: []string{"before", "A", "B"}[j], First: j == 0, Spread: s,
				From: max(s.Min, s.Mean-s.StandardDeviation), To: min(s.Max, s.Mean+s.StandardDeviation),
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
