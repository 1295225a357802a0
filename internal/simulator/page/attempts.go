package page

import (
	"net/url"
	"slices"
	"strconv"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
)

const (
	rowsPerPage   = 25
	scoresPerPage = 10
)

type attemptView struct {
	*recorder.Attempt
	Newest  bool
	Filled  bool // whether the fields below are set
	Rows    pageOf[row]
	Ranking pageOf[recorder.NodeScore]
}

// row is a node in the table of verdicts.
type row struct {
	recorder.Group
	Node string
}

// fill makes the tables, with the pages of them that a query asks for.
func (v *attemptView) fill(query url.Values) {
	v.Filled = true
	v.Rows.pager = v.pager(v.Total, query, "rows", rowsPerPage)
	v.Rows.Items = v.rows(v.Rows.From, v.Rows.To)
	scores := v.Scores()
	v.Ranking.pager = v.pager(len(scores), query, "scores", scoresPerPage)
	v.Ranking.Items = scores[v.Ranking.From:v.Ranking.To]
}

func (v *attemptView) pager(all int, query url.Values, parameter string, size int) pager {
	id := strconv.FormatUint(v.ID, 10)
	p := newPager(all, podURL(v.Namespace, v.Name)+"/attempts/"+id, query, parameter, size)
	p.ID, p.In = parameter+"-"+id, "attempt-body"
	return p
}

// rows are the rows of the nodes from one index to another, over all groups.
func (v *attemptView) rows(from, to int) (rows []row) {
	for _, g := range v.Groups {
		first, end := max(from, 0), min(to, g.Len())
		if first < end {
			for _, node := range g.Nodes()[first:end] {
				rows = append(rows, row{g, node})
			}
		}
		from, to = from-g.Len(), to-g.Len()
	}
	return rows
}

// After are the verdicts once a node is chosen.
func (v attemptView) After() []recorder.Verdicts {
	return slices.Concat(reached("Reserve", v.Reserve), reached("Permit", v.Permit), reached("PreBind", v.PreBind), reached("Bind", v.Bind))
}

// reached is ByVerdict, or nothing for a point that the attempt did not reach.
func reached(point string, plugins []recorder.PluginVerdict) []recorder.Verdicts {
	all := recorder.ByVerdict(point, plugins)
	if len(all) == 1 && all[0].Verdict == recorder.NotRun {
		return nil
	}
	return all
}
