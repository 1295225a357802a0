package page

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"wasmkwokwizardry.io/regex-scheduling/recorder"
)

const (
	rowsPerPage   = 25
	scoresPerPage = 10
)

type attemptView struct {
	*recorder.Attempt
	Newest  bool
	Filled  bool // whether the tables below have been worked out
	Heads   []int
	Rows    pageOf[row]
	Ranking pageOf[recorder.NodeScore]
}

type row struct {
	recorder.Group
	Node string
}

// tables works out the tables, those pages of them that a query asks for. Heads are the
// indices of Columns: those that failed a node first, those that were skipped last.
func (v *attemptView) tables(query url.Values) {
	v.Filled = true
	rank := func(column int) int {
		switch c := v.Columns[column]; {
		case c.Failed > 0:
			return 0
		case c.Skipped:
			return 2
		}
		return 1
	}
	for i := range v.Columns {
		v.Heads = append(v.Heads, i)
	}
	slices.SortStableFunc(v.Heads, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	v.Rows = v.rows(query)
	scores := v.Scores()
	p := v.pager(len(scores), query, "scores", scoresPerPage)
	v.Ranking = pageOf[recorder.NodeScore]{p, scores[p.From:p.To]}
}

func (v *attemptView) pager(all int, query url.Values, parameter string, size int) pager {
	id := strconv.FormatUint(v.ID, 10)
	p := newPager(all, podURL(v.Namespace, v.Name)+"/attempts/"+id, query, parameter, size)
	p.ID, p.In = parameter+"-"+id, "attempt-body"
	return p
}

func (v *attemptView) rows(query url.Values) pageOf[row] {
	shown := pageOf[row]{pager: v.pager(v.Total, query, "rows", rowsPerPage)}
	first := 0 // of the group
	for _, g := range v.Groups {
		if from, to := max(shown.From-first, 0), min(shown.To-first, g.Len()); from < to {
			for _, node := range g.Nodes()[from:to] {
				shown.Items = append(shown.Items, row{g, node})
			}
		}
		first += g.Len()
	}
	return shown
}

// Causes are the groups of nodes that something is against, the largest first.
func (v attemptView) Causes() []recorder.Group {
	all := slices.DeleteFunc(slices.Clone(v.Groups), func(g recorder.Group) bool {
		return g.Verdict == recorder.Passed || g.Verdict == recorder.NotRun
	})
	slices.SortStableFunc(all, func(a, b recorder.Group) int { return cmp.Compare(b.Len(), a.Len()) })
	return all
}

// By is what is against the nodes of a group, or empty.
func (v attemptView) By(g recorder.Group) string {
	if g.Column < 0 {
		return ""
	}
	return v.Columns[g.Column].Name
}

// verdicts are the plugins that came to the same verdict on the pod itself.
type verdicts struct {
	Point   string // empty where a headline says it
	Verdict recorder.Verdict
	Word    string
	Plugins []recorder.PluginVerdict
}

// verdictWords are the verdicts on a pod, the bad news first.
var verdictWords = []verdicts{
	{Verdict: recorder.Errored, Word: "error"},
	{Verdict: recorder.Rejected, Word: "failed"},
	{Verdict: recorder.Waits, Word: "waits"},
	{Verdict: recorder.Passed, Word: "passed"},
	{Verdict: recorder.Skipped, Word: "skipped"},
	{Verdict: recorder.NotRun, Word: "not asked"},
}

// verdictsAt sorts the verdicts of the plugins at a point.
func verdictsAt(point string, plugins []recorder.PluginVerdict) (all []verdicts) {
	for _, one := range verdictWords {
		one.Point = point
		for _, plugin := range plugins {
			if plugin.Verdict == one.Verdict {
				one.Plugins = append(one.Plugins, plugin)
			}
		}
		if len(one.Plugins) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// Before is what the plugins said before any node was looked at.
func (v attemptView) Before() []verdicts { return verdictsAt("", v.PreFilter) }

// BeforeScores is what they said before the nodes were scored.
func (v attemptView) BeforeScores() []verdicts { return asked("PreScore", v.PreScore) }

// After is what they said once a node was chosen.
func (v attemptView) After() []verdicts {
	return slices.Concat(asked("Reserve", v.Reserve), asked("Permit", v.Permit), asked("PreBind", v.PreBind), asked("Bind", v.Bind))
}

// asked is verdictsAt, without a point that the attempt did not come to.
func asked(point string, plugins []recorder.PluginVerdict) []verdicts {
	all := verdictsAt(point, plugins)
	if len(all) == 1 && all[0].Verdict == recorder.NotRun {
		return nil
	}
	return all
}

// Tone is the colour of the result.
func (v attemptView) Tone() string {
	return map[recorder.Result]string{
		recorder.Scheduled: "fine", recorder.Failed: "failing", recorder.Pending: "quiet", recorder.Unschedulable: "waiting",
	}[v.Result]
}

// Event is the reason under which the scheduler told the pod of it.
func (v attemptView) Event() string {
	if v.Result == recorder.Scheduled {
		return "Scheduled"
	}
	return "FailedScheduling"
}
