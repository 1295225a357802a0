package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
)

// URL is the address of a what-if's result.
func (j *job) URL() string { return "/results/" + strconv.Itoa(j.ID) }

const resultsTab = "results"

func (p *page) resultList(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "results", "Results", resultsTab, p.jobs.whatIfs())
}

// running are the jobs that have not ended and that a tab does not show itself.
func (p *page) running(tab string) []*job {
	return slices.DeleteFunc(p.jobs.list(), func(one *job) bool {
		return one.Ended() || tab == resultsTab && one.Again != ""
	})
}

// keep keeps a document or a part of one as the result of a job.
func (j *job) keep(html []byte) error {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	_, err := compressed.Write(html)
	err = errors.Join(err, compressed.Close())
	j.result = out.Bytes()
	return err
}

// result shows the result of a what-if. That of a comparison is a document of its own.
func (p *page) result(w http.ResponseWriter, r *http.Request) error {
	one := p.jobs.get(r.PathValue("id"))
	if one == nil {
		return notFound("There is no such result: results are kept as long as the simulator runs.")
	}
	if !one.Ended() || one.result == nil {
		http.Redirect(w, r, "/results", http.StatusSeeOther)
		return nil
	}
	compressed, err := gzip.NewReader(bytes.NewReader(one.result))
	if err != nil {
		return err
	}
	html, err := io.ReadAll(compressed)
	if err != nil {
		return err
	}
	if !one.Compares {
		return p.show(w, r, "kept", one.Title, resultsTab, template.HTML(html))
	}
	w.Header().Set("Content-Security-Policy", compare.Policy)
	send(w, http.StatusOK, html)
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
	a, b := configTitle(current), configTitle([]byte(text))
	one := &job{Title: "Comparing " + a + " with " + b, Again: "/compare/new", Tried: text, Compares: true}
	some := len(cluster.Pods) > 0 // Run takes the pods out of it
	return p.await(w, r, p.whatIf(one, func(ctx context.Context, job *job) (outcome, error) {
		results, err := compare.Run(ctx, compare.Options{
			A:      compare.Scheduler{Name: a, Label: "the current configuration", Config: current},
			B:      []compare.Scheduler{{Name: b, Label: "the edited configuration", Config: []byte(text)}},
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
		var out bytes.Buffer
		err = compare.Page(&out, results[0], "/results", job.Began)
		return outcome{Notice: results[0].Verdict(), Link: job.URL()}, errors.Join(err, job.keep(out.Bytes()))
	}))
}

// whatIf starts a job that runs copies of the cluster. One runs at a time: two need twice
// the memory, and do not end sooner.
func (p *page) whatIf(one *job, work work) *job {
	return p.jobs.add(one, func(ctx context.Context, _ *job) (outcome, error) {
		before := p.jobs.whatIfs()
		i := slices.IndexFunc(before, func(other *job) bool { return other.ID < one.ID && !other.Ended() })
		if i >= 0 {
			one.report(progress{Phases: []string{"queued: “" + before[i].Title + "” has not ended"}})
		}
		select {
		case p.turn <- struct{}{}:
		case <-ctx.Done():
			return outcome{}, ctx.Err()
		}
		defer func() { <-p.turn }()
		one.report(progress{})
		return work(ctx, one)
	})
}

// comparisonProblems are at the lines of the edited configuration if they are about it.
func comparisonProblems(text string, err error) problems {
	var sides compare.SideErrors
	if errors.As(err, &sides) && sides[0].Side == "B" {
		return configProblems(text, sides[0].Err)
	}
	return problemsOf(err)
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
