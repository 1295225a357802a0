package page

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/whatif/fit"
)

// jobs are the work that a person has started and that takes its time: what is under
// way, and the last that was. A browser that leaves does not stop it.
type jobs struct {
	ctx context.Context

	mu   sync.Mutex
	last int
	all  []*job // the oldest first
}

// Of those that have ended so many can be asked about. A comparison takes memory: it has
// every pod that differs, with what was said of every node. Of those that came to nothing
// as many are kept.
const (
	keptJobs        = 16
	keptComparisons = 3
)

type job struct {
	ID          int
	Title       string
	Drains      string       // the node that it drains, if it does
	*comparison              // nil for any other work
	Fitting     *fit.Fitting // set before the job is finished, if it tried manifests

	cancel   context.CancelFunc
	finished chan struct{}
	Outcome  outcome // set before finished is closed

	mu    sync.Mutex
	state progress
}

// progress is how far a job is. Of is 0 if nobody knows; Phases are what it is at.
type progress struct {
	Done, Of int
	Phases   []string
}

type outcome struct {
	Notice   string // in a line, what was done
	Problems []typed.Problem
	Remarks  []snapshot.Notice // on what was done
	Link     string            // where that is shown, if not where it was started
}

// start begins work, which ends early with the page, and tells its job how far it is.
func (j *jobs) start(title string, work func(context.Context, *job) outcome) *job {
	return j.add(&job{Title: title}, work)
}

func (j *jobs) add(one *job, work func(context.Context, *job) outcome) *job {
	ctx, cancel := context.WithCancel(j.ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	one.ID, one.cancel, one.finished = j.last, cancel, make(chan struct{})
	j.all = append(j.all, one)
	go func() {
		defer cancel()
		defer close(one.finished)
		one.Outcome = work(ctx, one)
	}()
	return one
}

// list are the jobs that are known, the newest first. It forgets those that have ended
// before the last few.
func (j *jobs) list() (all []*job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	type sort struct{ compares, isGood bool }
	kept := map[sort]int{}
	for _, one := range slices.Backward(j.all) {
		if one.Ended() {
			of, most := sort{}, keptJobs
			if one.comparison != nil {
				of, most = sort{true, one.Result != nil}, keptComparisons
			}
			if kept[of]++; kept[of] > most {
				continue
			}
		}
		all = append(all, one)
	}
	j.all = slices.Clone(all)
	slices.Reverse(j.all)
	return all
}

// get returns nil if nothing is known of the job any more.
func (j *jobs) get(id string) *job {
	for _, one := range j.list() {
		if strconv.Itoa(one.ID) == id {
			return one
		}
	}
	return nil
}

func (j *jobs) comparisons() []*job {
	return slices.DeleteFunc(j.list(), func(one *job) bool { return one.comparison == nil })
}

// comparison returns nil if the job is none, too.
func (j *jobs) comparison(id string) *job {
	if one := j.get(id); one != nil && one.comparison != nil {
		return one
	}
	return nil
}

// Ended reports whether the job is finished.
func (j *job) Ended() bool {
	select {
	case <-j.finished:
		return true
	default:
		return false
	}
}

func (j *job) progress(done, of int) { j.tell(progress{Done: done, Of: of}) }

func (j *job) tell(now progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.state = now
}

// Progress is how far the job is.
func (j *job) Progress() progress {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state
}

// soon is how long a request waits for what it started, so that most answers
// are the result itself and no progress has to be shown.
const soon = 400 * time.Millisecond

func (p *page) job(w http.ResponseWriter, r *http.Request) error {
	one := p.jobs.get(r.PathValue("id"))
	if one == nil {
		return fragment(w, r, "problems", []typed.Problem{{Message: "nothing is known of this work any more"}})
	}
	return p.await(w, r, one)
}

func (p *page) cancelJob(w http.ResponseWriter, r *http.Request) error {
	if one := p.jobs.get(r.PathValue("id")); one != nil {
		one.cancel() // what came of it is said where its progress is shown
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// await answers with what came of a job if that is known soon, and with its
// progress, which asks again by itself, if not. The query "aside" asks for what
// stands at the edge of the page, when the form is closed.
func (p *page) await(w http.ResponseWriter, r *http.Request, one *job) error {
	view := "job"
	if r.URL.Query().Has("aside") {
		view = "aside"
	}
	select {
	case <-one.finished:
	case <-time.After(soon):
		return fragment(w, r, view, one)
	case <-r.Context().Done():
		return nil
	}
	switch came := one.Outcome; {
	case came.Link != "" && view == "job":
		w.Header().Set("HX-Redirect", came.Link)
		return nil
	case came.Link != "":
		return fragment(w, r, "aside-link", came)
	case len(came.Remarks) > 0 && len(came.Problems) == 0:
		return fragment(w, r, view+"-remarks", came)
	case view == "job":
		return finish(w, r, came.Notice, came.Problems)
	case len(came.Problems) > 0:
		return fragment(w, r, "aside-problems", one)
	case one.Drains != "":
		return fragment(w, r, "aside-done", came)
	default:
		notify(w, came.Notice, true)
		return nil
	}
}

func because(err error) []typed.Problem { return []typed.Problem{{Message: err.Error()}} }

// finish answers a form: its problems, which stand next to the text, or the end of it.
func finish(w http.ResponseWriter, r *http.Request, notice string, problems []typed.Problem) error {
	if len(problems) == 0 {
		notify(w, notice, true)
	}
	return fragment(w, r, "problems", problems)
}
