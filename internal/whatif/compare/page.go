package compare

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Page writes a result as a page that is a file of its own, with the time of the comparison, and a link
// to where the other results are, if home is not empty.
func Page(w io.Writer, r *Result, home string, made time.Time) error {
	rows := slices.Concat(r.Differences, r.Pending)
	shown := min(most, len(rows))
	bar := r.shares()
	end := bar[len(bar)-1]
	last := basis([]*Result{r})
	return page.Execute(w, map[string]any{
		"Result": r, "Home": home, "Made": made.Format("2 January 2006, 15:04"), "Style": report.Style, "Script": template.JS(script),
		"Rows": rows[:shown], "List": newListing(rows[:shown]), "More": len(rows) - shown,
		"Summary": summary([]*Result{r}), "Unplaced": r.unplaced(), "Workloads": r.workloads(), "Groups": r.groups(), "Rejected": r.rejected(),
		"Scheduled": r.scheduled(), "Terms": Terms + " " + last.String(), "Lacking": last.Lacking(), "Remedies": last.Remedies(), "Shares": bar, "Width": end.X + end.Width, "Curves": curves(r.Load),
	})
}

// most is how many pods the page lists: a browser is slow with more, and so is a reader.
const most = 3000

// folds reports whether the page hides a pod at first: knock-on effects, unless the pod has lost its node.
func folds(d Difference) bool { return d.Follows && d.Kind != OnlyA }

func direct(rows []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(rows), folds)
}

// listing is what the page's script makes rows of. Texts are given once, and referred to by index.
type listing struct {
	Texts []string
	Pods  [][]any

	index map[string]int
}

func (l *listing) text(text string) int {
	i, ok := l.index[text]
	if !ok {
		i = len(l.Texts)
		l.index[text] = i
		l.Texts = append(l.Texts, text)
	}
	return i
}

// newListing lists pods: namespace, name, kind and its word, plugin, reason, whether it is a knock-on effect, whether
// it is hidden at first, and either side.
func newListing(rows []Difference) *listing {
	l := &listing{index: map[string]int{}}
	for _, d := range rows {
		l.Pods = append(l.Pods, []any{
			l.text(d.Namespace), l.text(d.Name), l.text(string(d.Kind)), l.text(d.Kind.word()), l.text(d.Plugin), l.text(d.Reason),
			d.Follows, folds(d), l.outcome(d, d.A), l.outcome(d, d.B),
		})
	}
	return l
}

// outcome is a side: where the pod is, its state, node, preemptor, number of attempts, message, and its scores.
func (l *listing) outcome(d Difference, on side.Outcome) []any {
	all := []any{l.text(where(on)), l.text(on.State), l.text(on.Node), l.text(on.PreemptedBy), on.Attempts, l.text(on.Message)}
	if d.Cause != Score || on.Attempt == nil {
		return all // no scores have decided
	}
	var plugins []string
	for _, column := range on.Attempt.ScoreColumns {
		plugins = append(plugins, column.Name)
	}
	all = append(all, l.text(strings.Join(plugins, "\n")))
	for _, row := range on.Attempt.Scores() {
		if row.Node == d.A.Node || row.Node == d.B.Node {
			scores := []int64{int64(l.text(row.Node)), row.Total}
			for _, one := range row.Cells {
				scores = append(scores, one.Weighted)
			}
			all = append(all, scores)
		}
	}
	return all
}

//go:embed page.html
var layout string

//go:embed page.js
var script string

// Policy is the Content-Security-Policy that lets the page do what it does, and
// nothing else.
var Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	digest(string(report.Style)), digest(script))

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

var page = template.Must(template.Must(report.HTML.Clone()).New("page").Funcs(template.FuncMap{
	"direct": direct, "plural": report.Plural,
}).Parse(layout))

// curve is how much of a resource is requested of the nodes, the fullest first, as paths.
// They count downwards, in percent.
type curve struct {
	Resource v1.ResourceName
	Nodes    int
	Top      float64
	Paths    []string // today, under A, under B
}

// steps is about how many nodes a curve has. Where there are more, it has each second one, say.
const steps = 400

func curves(l Loads) (all []curve) {
	for _, name := range l.Resources() {
		c := curve{Resource: name, Top: 100}
		for when := range 3 {
			percent := percents(l.Nodes, name, func(n NodeLoad) v1.ResourceList { return []v1.ResourceList{n.Before, n.A, n.B}[when] })
			slices.SortFunc(percent, func(a, b float64) int { return cmp.Compare(b, a) })
			path := "M0 0"
			stride := len(percent)/steps + 1
			for n := 0; n < len(percent); n += stride {
				path += fmt.Sprintf("V%.1fH%d", 0-percent[n], min(n+stride, len(percent)))
				c.Top = max(c.Top, percent[n])
			}
			c.Nodes = len(percent)
			c.Paths = append(c.Paths, path)
		}
		all = append(all, c)
	}
	return all
}
