package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
	"wasmkwokwizardry.io/regex-scheduling/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/whatif/compare/report"
	"wasmkwokwizardry.io/regex-scheduling/whatif/side"
)

// comparison is the configuration that ran against one that was typed.
type comparison struct {
	A, B   string // what the configurations are called
	Pods   string // one of side.Modes
	Typed  string // B
	Began  time.Time
	Result *compare.Result // set before the job is finished, if that ends well
}

// URL is where the page shows a comparison.
func (j *job) URL() string { return "/compare/" + strconv.Itoa(j.ID) }

// Verdict says in a line what came of a comparison.
func (j *job) Verdict() string { return j.Result.Verdict() }

const comparisonsTab = "comparisons"

func (p *page) comparisonList(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "comparisons", "Comparisons", comparisonsTab, map[string]any{"All": p.jobs.comparisons()})
}

// running are the jobs under way that a tab does not show itself.
func (p *page) running(tab string) []*job {
	return slices.DeleteFunc(p.jobs.list(), func(one *job) bool { return one.Ended() || tab == comparisonsTab && one.comparison != nil })
}

// compared shows the report of a comparison, which is a page of its own.
func (p *page) compared(w http.ResponseWriter, r *http.Request) error {
	one := p.jobs.comparison(r.PathValue("id"))
	if one == nil {
		return notThere(fmt.Sprintf("This comparison is not kept any more: only the last %d are.", keptComparisons))
	}
	if !one.Ended() || one.Result == nil {
		http.Redirect(w, r, "/compare", http.StatusSeeOther)
		return nil
	}
	var out bytes.Buffer
	if err := report.Page(&out, one.Result, "/compare", one.Began); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", report.Policy)
	send(w, http.StatusOK, out.Bytes())
	return nil
}

// compare schedules the pods that are there under the configuration that runs and
// under what was typed, in clusters of their own.
func (p *page) compare(w http.ResponseWriter, r *http.Request) error {
	text, pods := r.FormValue("text"), r.FormValue("pods")
	if _, err := scheduler.Read([]byte(text)); err != nil {
		return finish(w, r, "", typed.ConfigRefusal(text, err))
	}
	snapshot, err := p.sim.Export(r.Context())
	if err != nil {
		return finish(w, r, "", because(err))
	}
	runs := p.sim.SchedulerConfig()
	compared := &comparison{A: configTitle(runs), B: configTitle([]byte(text)), Pods: pods, Typed: text, Began: time.Now()}
	return p.await(w, r, p.jobs.add(&job{Title: "Comparing " + compared.A + " with " + compared.B, comparison: compared}, func(ctx context.Context, job *job) outcome {
		if !p.inTurn(ctx, job) {
			return stopped
		}
		defer func() { <-p.turn }()
		some := len(snapshot.Pods) > 0 // before Run uses them up
		results, err := compare.Run(ctx, compare.Options{
			A:      compare.Scheduler{Name: compared.A, Label: "the configuration that runs", Config: runs},
			B:      []compare.Scheduler{{Name: compared.B, Label: "what is typed", Config: []byte(text)}},
			WhatIf: p.sim.WhatIf, Cluster: snapshot, Pods: pods, Seed: 1, Progress: phases(job),
		})
		if ctx.Err() != nil {
			return stopped
		}
		if errors.Is(err, compare.ErrNothing) && pods == side.Pending && some {
			err = fmt.Errorf("%w; choose “every pod anew”, which schedules those, too", err)
		}
		if err != nil {
			return outcome{Problems: comparisonProblems(text, err)}
		}
		compared.Result = results[0]
		return outcome{Notice: job.Verdict(), Link: job.URL()}
	}))
}

// inTurn waits for the turn of a job that runs clusters. It returns false if that is
// stopped before.
func (p *page) inTurn(ctx context.Context, job *job) bool {
	job.tell(progress{Phases: []string{"waits until the comparison before it has ended"}})
	select {
	case p.turn <- struct{}{}:
		job.tell(progress{})
		return true
	case <-ctx.Done():
		return false
	}
}

var stopped = outcome{Problems: []typed.Problem{{Message: "stopped"}}}

// comparisonProblems are at the lines of what is typed if they are about that.
func comparisonProblems(text string, err error) (all []typed.Problem) {
	var sides compare.SideErrors
	if !errors.As(err, &sides) {
		return because(err)
	}
	for _, one := range sides {
		if one.Side == "B" {
			all = append(all, typed.ConfigRefusal(text, one.Err)...)
		} else {
			all = append(all, because(one)...)
		}
	}
	return all
}

// phases tells a job what each side is at, and adds up how far they are with what
// takes the longest.
func phases(job *job) func(compare.Progress) {
	var mu sync.Mutex
	sides := map[string]compare.Progress{}
	return func(now compare.Progress) {
		mu.Lock()
		defer mu.Unlock()
		sides[now.Side] = now
		var all progress
		for _, letter := range slices.Sorted(maps.Keys(sides)) {
			one := sides[letter]
			all.Phases = append(all.Phases, one.String())
			if one.Step == side.Schedules {
				all.Done, all.Of = all.Done+one.Done, all.Of+one.Of
			}
		}
		job.tell(all)
	}
}
