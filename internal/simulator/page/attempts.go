package page

import (
	"cmp"
	"slices"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/recorder"
)

const (
	rowsPerPage   = 25
	scoresPerPage = 10
)

// attemptView is an attempt as it is drawn.
type attemptView struct {
	*recorder.Attempt
	Newest  bool
	Filled  bool // whether the tables below have been worked out
	Heads   []head
	Rows    span[row]
	Causes  []cause
	Ranking span[recorder.NodeScore]
}

// head is a column of the table of nodes by plugins: those that failed a node
// come first, those that were skipped last.
type head struct {
	recorder.Column
	index int
}

// row is a node, with a cell for each head.
type row struct {
	recorder.NodeVerdict
	By    string // who was against it
	Cells []recorder.Verdict
}

// cause is a reason that some nodes share.
type cause struct {
	By, Reason string
	Verdict    recorder.Verdict
	Nodes      int
}

// tables works out the tables, from the given rows on.
func (v *attemptView) tables(rows, scores int) {
	v.Filled = true
	for i, c := range v.Columns {
		v.Heads = append(v.Heads, head{c, i})
	}
	slices.SortStableFunc(v.Heads, func(a, b head) int { return cmp.Compare(a.rank(), b.rank()) })
	nodes := v.Nodes()
	v.Causes = causes(v.Attempt, nodes)
	shown := stretch(nodes, rows, rowsPerPage)
	v.Rows = span[row]{From: shown.From, All: shown.All, size: shown.size}
	for _, n := range shown.Items {
		v.Rows.Items = append(v.Rows.Items, v.row(n))
	}
	v.Ranking = stretch(v.Scores(), scores, scoresPerPage)
}

func (h head) rank() int {
	switch {
	case h.Failed > 0:
		return 0
	case h.Skipped:
		return 2
	}
	return 1
}

func (v *attemptView) row(n recorder.NodeVerdict) row {
	r := row{NodeVerdict: n, By: by(v.Attempt, n)}
	for _, h := range v.Heads {
		r.Cells = append(r.Cells, v.Cell(n, h.index))
	}
	return r
}

func by(a *recorder.Attempt, n recorder.NodeVerdict) string {
	if n.Column < 0 || n.Column >= len(a.Columns) {
		return ""
	}
	return a.Columns[n.Column].Name
}

// causes adds the reasons of the nodes up, the most frequent first.
func causes(a *recorder.Attempt, nodes []recorder.NodeVerdict) []cause {
	var all []cause
	at := map[cause]int{}
	for _, n := range nodes {
		if n.Verdict == recorder.Passed || n.Verdict == recorder.NotRun {
			continue
		}
		c := cause{By: by(a, n), Reason: n.Reason, Verdict: n.Verdict}
		i, ok := at[c]
		if !ok {
			i, at[c] = len(all), len(all)
			all = append(all, c)
		}
		all[i].Nodes++
	}
	slices.SortStableFunc(all, func(a, b cause) int { return cmp.Compare(b.Nodes, a.Nodes) })
	return all
}

// saying is what some plugins have in common.
type saying struct {
	Verdict recorder.Verdict
	Word    string
	Said    []recorder.PluginVerdict
}

// Before is what the plugins said before any node was looked at, the bad news first.
func (v attemptView) Before() []saying {
	all := []saying{
		{Verdict: recorder.Errored, Word: "error"},
		{Verdict: recorder.Rejected, Word: "failed"},
		{Verdict: recorder.Passed, Word: "passed"},
		{Verdict: recorder.Skipped, Word: "skipped"},
		{Verdict: recorder.NotRun, Word: "not asked"},
	}
	for _, said := range v.PreFilter {
		for i := range all {
			if all[i].Verdict == said.Verdict {
				all[i].Said = append(all[i].Said, said)
			}
		}
	}
	return slices.DeleteFunc(all, func(s saying) bool { return len(s.Said) == 0 })
}

// Tone is the colour of the result.
func (v attemptView) Tone() string {
	switch v.Result {
	case recorder.Scheduled:
		return "fine"
	case recorder.Failed:
		return "failing"
	case recorder.Pending:
		return "quiet"
	}
	return "waiting"
}

// Event is the reason under which the scheduler told the pod of it.
func (v attemptView) Event() string {
	switch v.Result {
	case recorder.Scheduled:
		return "Scheduled"
	case recorder.Pending:
		return ""
	}
	return "FailedScheduling"
}

// Took is the duration as a person reads it.
func (v attemptView) Took() string { return brief(v.Duration) }
