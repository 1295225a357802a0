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

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
)

// comparison is of the current configuration, A, and an edited one, B.
type comparison struct {
	A, B   string // their titles
	Pods   string // one of side.Modes
	Edited string // the text of B
	Began  time.Time
	Result *compare.Result // nil until the comparison has ended well
}

// URL is the address of a comparison's report.
func (j *job) URL() string { return "/compare/" + strconv.Itoa(j.ID) }

// Verdict is the result of a comparison in a line.
func (j *job) Verdict() string { return j.Result.Verdict() }

const comparisonsTab = "comparisons"

func (p *page) comparisonList(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "comparisons", "Comparisons", comparisonsTab, p.jobs.comparisons())
}

// running are the jobs that have not ended and that a tab does not show itself.
func (p *page) running(tab string) []*job {
	return slices.DeleteFunc(p.jobs.list(), func(one *job) bool {
		return one.Ended() || tab == comparisonsTab && one.comparison != nil
	})
}

// compared shows the report of a comparison, which is a document of its own.
func (p *page) compared(w http.ResponseWriter, r *http.Request) error {
	one := p.jobs.comparison(r.PathValue("id"))
	if one == nil {
		return notFound(fmt.Sprintf("This comparison is no longer kept: the page keeps the last %d.", keptComparisons))
	}
	if !one.Ended() || one.Result == nil {
		http.Redirect(w, r, "/compare", http.StatusSeeOther)
		return nil
	}
	var out bytes.Buffer
	if err := compare.Page(&out, one.Result, "/compare", one.Began); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", compare.Policy)
	send(w, http.StatusOK, out.Bytes())
	return nil
}

// compare schedules the pods of the cluster with the current and with the edited
// configuration, each in a copy of the cluster.
func (p *page) compare(w http.ResponseWriter, r *http.Request) error {
	text, pods := r.FormValue("text"), r.FormValue("pods")
	if _, err := scheduler.Read([]byte(text)); err != nil {
		return configProblems(text, err)
	}
	cluster, err := p.copied(r.Context())
	if err != nil {
		return err
	}
	current := p.sim.SchedulerConfig()
	compared := &comparison{A: configTitle(current), B: configTitle([]byte(text)), Pods: pods, Edited: text, Began: time.Now()}
	one := &job{Title: "Comparing " + compared.A + " with " + compared.B, comparison: compared}
	some := len(cluster.Pods) > 0 // Run takes the pods out of it
	return p.await(w, r, p.whatIf(one, func(ctx context.Context, job *job) (outcome, error) {
		results, err := compare.Run(ctx, compare.Options{
			A:      compare.Scheduler{Name: compared.A, Label: "the current configuration", Config: current},
			B:      []compare.Scheduler{{Name: compared.B, Label: "the edited configuration", Config: []byte(text)}},
			WhatIf: p.sim.WhatIf, Cluster: cluster, Pods: pods, Seed: 1, Progress: phases(job),
		})
		switch {
		case ctx.Err() != nil:
			return outcome{}, ctx.Err()
		case errors.Is(err, compare.ErrNothing) && pods == side.Pending && some:
			return outcome{}, fmt.Errorf("%w; choose “all pods, rescheduled from scratch”", err)
		case err != nil:
			return outcome{}, comparisonProblems(text, err)
		}
		compared.Result = results[0]
		return outcome{Notice: job.Verdict(), Link: job.URL()}, nil
	}))
}

// whatIf starts a job that runs copies of the cluster. One runs at a time: two need twice
// the memory, and do not end sooner.
func (p *page) whatIf(one *job, work work) *job {
	return p.jobs.add(one, func(ctx context.Context, job *job) (outcome, error) {
		job.report(progress{Phases: []string{"queued: the comparison before it has not ended"}})
		select {
		case p.turn <- struct{}{}:
		case <-ctx.Done():
			return outcome{}, ctx.Err()
		}
		defer func() { <-p.turn }()
		job.report(progress{})
		return work(ctx, job)
	})
}

// comparisonProblems are at the lines of the edited configuration if they are about it.
func comparisonProblems(text string, err error) (all problems) {
	var sides compare.SideErrors
	if !errors.As(err, &sides) {
		return problemsOf(err)
	}
	for _, one := range sides {
		if one.Side == "B" {
			all = append(all, configProblems(text, one.Err)...)
		} else {
			all = append(all, problemsOf(one)...)
		}
	}
	return all
}

// phases reports the step of each side to a job, and the sum of what they have scheduled.
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
		job.report(all)
	}
}
