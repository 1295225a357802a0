package page

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page/typed"
)

// soon is how long a request waits for what it started, so that most answers
// are the result itself and no progress has to be shown.
const soon = 400 * time.Millisecond

// kept is how many finished jobs can still be asked about.
const kept = 16

// jobs is work that takes its time. A browser that leaves does not stop it.
type jobs struct {
	ctx context.Context

	mu   sync.Mutex
	last int
	all  []*job
}

// job is one such work.
type job struct {
	ID    int
	Title string

	cancel   context.CancelFunc
	finished chan struct{}

	mu       sync.Mutex
	done, of int

	// These are set before finished is closed.
	notice   string
	problems []typed.Problem
	remarks  []simulator.Notice // on what was done, for a person to read
	link     string             // to what came of it
}

// start begins work. The work returns a line that says what was done, or what is
// wrong.
func (j *jobs) start(title string, work func(context.Context, *job) (notice string, problems []typed.Problem)) *job {
	ctx, cancel := context.WithCancel(j.ctx)
	j.mu.Lock()
	j.last++
	one := &job{ID: j.last, Title: title, cancel: cancel, finished: make(chan struct{})}
	j.all = append(j.all, one)
	if len(j.all) > kept {
		j.all = j.all[1:]
	}
	j.mu.Unlock()
	go func() {
		defer cancel()
		defer close(one.finished)
		one.notice, one.problems = work(ctx, one)
	}()
	return one
}

func (j *jobs) get(id int) *job {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, one := range j.all {
		if one.ID == id {
			return one
		}
	}
	return nil
}

// progress says how far the job is.
func (j *job) progress(done, of int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done, j.of = done, of
}

// Done and Of are how far the job is; Of is 0 if nobody knows.
func (j *job) Done() int { j.mu.Lock(); defer j.mu.Unlock(); return j.done }
func (j *job) Of() int   { j.mu.Lock(); defer j.mu.Unlock(); return j.of }

// running are the jobs that are not finished.
func (j *jobs) running() []*job {
	j.mu.Lock()
	defer j.mu.Unlock()
	var running []*job
	for _, one := range j.all {
		select {
		case <-one.finished:
		default:
			running = append(running, one)
		}
	}
	return running
}

// job answers how a job is getting on.
func (p *page) job(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	one := p.jobs.get(id)
	if one == nil {
		p.fragment(w, r, http.StatusOK, "problems", []typed.Problem{{Message: "nothing is known of this work any more"}})
		return
	}
	p.await(w, r, one)
}

// cancelJob ends a job early.
func (p *page) cancelJob(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	if one := p.jobs.get(id); one != nil {
		one.cancel() // what came of it is said where its progress is shown
	}
	w.WriteHeader(http.StatusNoContent)
}

// await answers with what came of a job if that is known soon, and with its
// progress, which asks again by itself, if not. The query "aside" asks for what
// stands at the edge of the page, when the form is closed.
func (p *page) await(w http.ResponseWriter, r *http.Request, one *job) {
	view := "job"
	if r.URL.Query().Has("aside") {
		view = "aside"
	}
	select {
	case <-one.finished:
	case <-time.After(soon):
		p.fragment(w, r, http.StatusOK, view, one)
		return
	case <-r.Context().Done():
		return
	}
	switch {
	case one.link != "" && view == "job":
		w.Header().Set("HX-Redirect", one.link)
	case one.link != "":
		p.fragment(w, r, http.StatusOK, "aside-link", map[string]any{"Title": one.notice, "Link": one.link})
	case len(one.remarks) > 0 && len(one.problems) == 0:
		p.fragment(w, r, http.StatusOK, view+"-remarks", map[string]any{"Title": one.notice, "Remarks": one.remarks})
	case view == "job":
		p.outcome(w, r, one.notice, one.problems)
	case len(one.problems) > 0:
		p.fragment(w, r, http.StatusOK, "aside-problems", map[string]any{"Title": one.Title, "Problems": one.problems})
	default:
		notify(w, one.notice, true)
	}
}

// because is an error as a problem of nothing in particular.
func because(err error) []typed.Problem { return []typed.Problem{{Message: err.Error()}} }

// outcome answers a form: its problems beside the text, or the end of it.
func (p *page) outcome(w http.ResponseWriter, r *http.Request, notice string, problems []typed.Problem) {
	if len(problems) > 0 {
		p.fragment(w, r, http.StatusOK, "problems", problems)
		return
	}
	notify(w, notice, true)
	p.fragment(w, r, http.StatusOK, "problems", []typed.Problem(nil))
}
