package page

import (
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
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
	Ties    int // how many nodes have as high a total as the chosen one
}

// row is a node in the table of verdicts.
type row struct {
	recorder.Group
	Node string
}

// fill makes the tables, with the pages of them that a query asks for.
func (v *attemptView) fill(query url.Values) {
	v.Filled = true
	v.Rows = cutOf(v, v.rows(), query, "rows", rowsPerPage)
	scores := v.Scores()
	v.Ranking = cutOf(v, scores, query, "scores", scoresPerPage)
	for _, one := range scores {
		if one.Total == scores[0].Total {
			v.Ties++
		}
	}
}

// cutOf is a page of a table of an attempt.
func cutOf[T any](v *attemptView, all []T, query url.Values, parameter string, size int) pageOf[T] {
	id := strconv.FormatUint(v.ID, 10)
	p := newPager(len(all), podURL(v.Namespace, v.Name)+"/attempts/"+id, query, parameter, size)
	p.ID, p.In = parameter+"-"+id, "attempt-body"
	return pageOf[T]{p, all[p.From:p.To]}
}

// rows are the nodes of all groups.
func (v *attemptView) rows() (rows []row) {
	for _, g := range v.Groups {
		for _, node := range g.Nodes() {
			rows = append(rows, row{g, node})
		}
	}
	return rows
}

// Before are the verdicts of PreFilter, without reasons that are among the causes.
func (v attemptView) Before() []recorder.Verdicts {
	plugins := slices.Clone(v.PreFilter)
	for i := range plugins {
		said := func(g recorder.Group) bool { return strings.HasSuffix(plugins[i].Reason, g.Reason) }
		if slices.ContainsFunc(v.Causes(), said) {
			plugins[i].Reason = ""
		}
	}
	return recorder.ByVerdict("", plugins)
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

// mostRows is how many nodes a file lists: a browser is slow with more.
const mostRows = 3000

// inFile are the templates for a file, which has no other pages to link to.
var inFile = template.Must(template.Must(templates.Clone()).New("podlink").Parse("{{.}}"))

// WriteWhy writes why a pod is pending as a page that is a file of its own: the view of an
// attempt, with all nodes.
func WriteWhy(w io.Writer, r *why.Result) error {
	var style template.CSS
	for _, name := range []string{"style", "views", "narrow"} {
		css, err := assets.ReadFile("assets/" + name + ".css")
		if err != nil {
			return err
		}
		style += template.CSS(css)
	}
	data := map[string]any{"Why": r, "Style": style}
	if r.Attempt != nil {
		view := attemptView{Attempt: r.Attempt}
		view.fill(url.Values{})
		all := view.rows()
		view.Rows.Items, view.Rows.Last = all[:min(len(all), mostRows)], 1
		data["Attempt"] = view
		data["More"] = len(all) - len(view.Rows.Items)
	}
	if err := inFile.ExecuteTemplate(w, "why", data); err != nil {
		return fmt.Errorf("view why: %w", err)
	}
	return nil
}
