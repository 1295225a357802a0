package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/compare"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/compare/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page/jobs"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page/typed"
)

// comparison is the configuration that ran against one that was typed.
type comparison struct {
	ID     int
	Result *compare.Result
	Typed  string // B
}

// comparisons are the last few.
type comparisons struct {
	mu   sync.Mutex
	last int
	all  []*comparison
}

// keptComparisons bounds the memory: each has every pod that differs, with what
// was said of every node.
const keptComparisons = 3

func (c *comparisons) add(result *compare.Result, typed string) *comparison {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	one := &comparison{c.last, result, typed}
	if c.all = append(c.all, one); len(c.all) > keptComparisons {
		c.all = c.all[1:]
	}
	return one
}

func (c *comparisons) get(id string) *comparison {
	number, _ := strconv.Atoi(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		if one.ID == number {
			return one
		}
	}
	return nil
}

// URL is where the page shows it.
func (c *comparison) URL() string { return "/compare/" + strconv.Itoa(c.ID) }

// Verdict says in a line what came of it.
func (c *comparison) Verdict() string { return report.Verdict(c.Result) }

// pods are all that come out differently, and those that only chance moved.
func (c *comparison) pods() []compare.Difference {
	return slices.Concat(c.Result.Differences, c.Result.Nowhere, c.Result.Ties)
}

// compare schedules the pods that are there under the configuration that runs and
// under what was typed, in clusters of their own.
func (p *page) compare(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxText)
	text, pods := r.FormValue("text"), r.FormValue("pods")
	if problems := typed.ConfigMistakes(text); len(problems) > 0 {
		p.outcome(w, r, "", problems)
		return
	}
	p.await(w, r, p.jobs.Start("Comparing", func(ctx context.Context, progress func(done, of int)) jobs.Outcome {
		snapshot, err := p.sim.Export(ctx)
		if err != nil {
			return jobs.Outcome{Problems: because(err)}
		}
		runs := p.sim.SchedulerConfig()
		result, err := compare.Run(ctx, compare.Options{
			A:       compare.Side{Name: configTitle(runs), Label: "the configuration that runs", Config: runs},
			B:       compare.Side{Name: configTitle([]byte(text)), Label: "what is typed", Config: []byte(text)},
			Cluster: snapshot, Pods: pods, Seed: 1, Progress: both(progress), InTurn: !compare.RoomForTwo(snapshot),
		})
		if ctx.Err() != nil {
			return jobs.Outcome{Problems: []typed.Problem{{Message: "stopped"}}}
		}
		if err != nil {
			return jobs.Outcome{Problems: comparisonProblems(text, err)}
		}
		one := p.comparisons.add(result, text)
		return jobs.Outcome{Notice: one.Verdict(), Link: one.URL()}
	}))
}

// comparisonProblems are at the lines of what is typed if they are about that.
func comparisonProblems(text string, err error) (all []typed.Problem) {
	var sides compare.SideErrors
	if !errors.As(err, &sides) {
		return because(err)
	}
	for _, side := range sides {
		if side.Side == "B" {
			all = append(all, typed.ConfigRefusal(text, side.Err)...)
		} else {
			all = append(all, because(side)...)
		}
	}
	return all
}

// both adds up how far the sides are with what takes the longest.
func both(tell func(done, of int)) func(compare.Progress) {
	var mu sync.Mutex
	sides := map[string]compare.Progress{}
	return func(now compare.Progress) {
		mu.Lock()
		defer mu.Unlock()
		sides[now.Side] = now
		done, of := 0, 0
		for _, side := range sides {
			if side.Step == compare.Schedules {
				done, of = done+side.Done, of+side.Of
			}
		}
		tell(done, of)
	}
}

// ofComparison hands on the comparison that an address names.
func (p *page) ofComparison(show func(http.ResponseWriter, *http.Request, *comparison)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		one := p.comparisons.get(r.PathValue("id"))
		if one == nil {
			p.gone(w, r, "This comparison is not kept any more.")
			return
		}
		show(w, r, one)
	}
}

// maxCompared is how many pods are listed at once. The filter finds the others.
const maxCompared = 200

// compared shows a comparison, or the part of its list that the filter leaves.
func (p *page) compared(w http.ResponseWriter, r *http.Request, one *comparison) {
	all := one.pods()
	q := r.URL.Query()
	found := slices.DeleteFunc(slices.Clone(all), func(d compare.Difference) bool {
		return !comparedAs(d, q.Get("kind")) || !mentions(d, q.Get("filter"))
	})
	data := map[string]any{
		"One": one, "Result": one.Result, "All": len(all), "Found": len(found), "Filter": q.Get("filter"), "Kind": q.Get("kind"),
		"Rows": found[:min(maxCompared, len(found))], "More": max(0, len(found)-maxCompared),
	}
	if q.Has("rows") {
		p.fragment(w, r, http.StatusOK, "compared-rows", data)
		return
	}
	p.show(w, r, "compared", "Compared", "", data)
}

// comparedAs is true of pods of a kind, or of all but those that chance moved.
func comparedAs(d compare.Difference, kind string) bool {
	switch kind {
	case "":
		return d.Cause != compare.Tie
	case "direct":
		return d.Cause != compare.Tie && d.Kind != compare.Nowhere && !d.Follows
	case string(compare.Tie):
		return d.Cause == compare.Tie
	}
	return string(d.Kind) == kind && d.Cause != compare.Tie
}

func mentions(d compare.Difference, filter string) bool {
	text := strings.ToLower(strings.Join([]string{d.Namespace + "/" + d.Name, d.A.Node, d.B.Node, d.Plugin, d.Reason}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// comparedSide is one half of what is shown of a pod.
type comparedSide struct {
	Title, Config string
	compare.Outcome
	Story *attemptView // nil: the scheduler did not look at it
}

// comparedPod shows both attempts for a pod beside each other.
func (p *page) comparedPod(w http.ResponseWriter, r *http.Request, one *comparison) {
	for _, d := range one.pods() {
		if d.Namespace == r.PathValue("namespace") && d.Name == r.PathValue("name") {
			p.show(w, r, "compared-pod", d.Name, "", map[string]any{"One": one, "Pod": d, "Sides": []comparedSide{
				newComparedSide("A", one.Result.A, d.A, d.B.Node), newComparedSide("B", one.Result.B, d.B, d.A.Node),
			}})
			return
		}
	}
	p.gone(w, r, fmt.Sprintf("Pod %s/%s is the same on both sides.", r.PathValue("namespace"), r.PathValue("name")))
}

// newComparedSide shows the best nodes, and in any case the two in question.
func newComparedSide(title, config string, o compare.Outcome, other string) comparedSide {
	side := comparedSide{Title: title, Config: config, Outcome: o}
	if o.Attempt == nil {
		return side
	}
	v := &attemptView{Attempt: o.Attempt}
	v.tables(url.Values{})
	v.Rows.Last, v.Ranking.Last = 1, 1 // other pages are of the cluster that runs
	for i, row := range v.Scores() {
		if i >= scoresPerPage && (row.Node == o.Node || row.Node == other) {
			v.Ranking.Items = append(v.Ranking.Items, row)
		}
	}
	side.Story = v
	return side
}

// comparedReport is the comparison as a file of its own.
func (p *page) comparedReport(w http.ResponseWriter, _ *http.Request, one *comparison) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="compared.html"`)
	_ = report.HTML(w, one.Result)
}

// loadRow is what is requested of the nodes of a side.
type loadRow struct {
	Name, CPU, Memory, Min, Max, Deviation, P50, P99 string
	Pods                                             int64
}

func newLoadRow(name string, l compare.Load, times any) loadRow {
	number := func(f float64) string { return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0") }
	row := loadRow{
		Name: name, Pods: l.Requested.Pods, CPU: number(float64(l.Requested.CPU) / 1000), Memory: number(float64(l.Requested.Memory) / (1 << 30)),
		Min: number(l.CPU.Min), Max: number(l.CPU.Max), Deviation: number(l.CPU.StandardDeviation),
	}
	if t, ok := times.(compare.Times); ok {
		row.P50, row.P99 = brief(t.P50), brief(t.P99)
	}
	return row
}
