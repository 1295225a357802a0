package page

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
	"wasmkwokwizardry.io/regex-scheduling/simulator/compare/report"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page/jobs"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
)

// compare schedules the pods that are there under the configuration that runs and
// under what was typed, in clusters of their own.
func (p *page) compare(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxText)
	text, pods := r.FormValue("text"), r.FormValue("pods")
	if _, err := scheduler.Read([]byte(text)); err != nil {
		p.outcome(w, r, "", typed.ConfigRefusal(text, err))
		return
	}
	snapshot, err := p.sim.Export(r.Context())
	if err != nil {
		p.outcome(w, r, "", because(err))
		return
	}
	runs := p.sim.SchedulerConfig()
	one := &comparison{A: configTitle(runs), B: configTitle([]byte(text)), Pods: pods, Typed: text}
	p.await(w, r, p.comparisons.start(p.jobs, one, func(ctx context.Context, job *jobs.Job) jobs.Outcome {
		result, err := compare.Run(ctx, compare.Options{
			A:       compare.Side{Name: one.A, Label: "the configuration that runs", Config: runs},
			B:       compare.Side{Name: one.B, Label: "what is typed", Config: []byte(text)},
			Cluster: snapshot, Pods: pods, Seed: 1, Progress: phases(job), InTurn: !compare.RoomForTwo(snapshot),
		})
		if ctx.Err() != nil {
			return stopped
		}
		if errors.Is(err, compare.ErrNothing) && pods == compare.Pending && len(snapshot.Pods) > 0 {
			err = fmt.Errorf("%w; choose “every pod anew”, which schedules those, too", err)
		}
		if err != nil {
			return jobs.Outcome{Problems: comparisonProblems(text, err)}
		}
		one.Result = result
		return jobs.Outcome{Notice: one.Verdict(), Link: "/compare/" + strconv.Itoa(job.ID)}
	}))
}

// stopped is what comes of work that a person ends early.
var stopped = jobs.Outcome{Problems: []typed.Problem{{Message: "stopped"}}}

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

// phases tells a job what each side is at, and adds up how far they are with what
// takes the longest.
func phases(job *jobs.Job) func(compare.Progress) {
	var mu sync.Mutex
	sides := map[string]compare.Progress{}
	return func(now compare.Progress) {
		mu.Lock()
		defer mu.Unlock()
		sides[now.Side] = now
		var lines []string
		done, of := 0, 0
		for _, letter := range slices.Sorted(maps.Keys(sides)) {
			side := sides[letter]
			lines = append(lines, side.String())
			if side.Step == compare.Schedules {
				done, of = done+side.Done, of+side.Of
			}
		}
		job.Say(lines...)
		job.Progress(done, of)
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
	p.show(w, r, "compared", "Compared", comparisonsTab, data)
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
