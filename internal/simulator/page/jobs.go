package page

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
)

// jobs are long work that people start. A job goes on without its browser, and is kept as long as the process runs, with
// its result: that of 3,000 pods is some 600 KB.
type jobs struct {
	ctx context.Context

	mu   sync.Mutex
	last int
	all  []*job // the newest first
}

type job struct {
	ID       int
	Title    string
	Drains   string // the node that it drains, if it does
	Again    string // for a what-if, the address of its form; empty for any other work
	Tried    string // for a what-if, the text of its form
	Compares bool   // whether the result is a document of its own
	Began    time.Time
	result   []byte // of a what-if: HTML. It is set before the job has ended

	cancel  context.CancelFunc
	ended   chan struct{}
	Outcome outcome // set before ended is closed

	mu    sync.Mutex
	state progress
}

// progress of a job. Of is 0 if it is not known; Phases are its current steps.
type progress struct {
	Done, Of int
	Phases   []string
}

type outcome struct {
	Notice   string // what was done, in a line
	Problems problems
	Remarks  []snapshot.Notice // on what was done
	But      string            // what the remarks are
	Link     string            // the page of the result, if there is one
}

// work does a job. It ends early if its context does.
type work func(context.Context, *job) (outcome, error)

func (j *jobs) start(title string, work work) *job { return j.add(&job{Title: title}, work) }

// add starts a job. The error of one that was stopped is "stopped", unless the work
// returns problems of its own.
func (j *jobs) add(one *job, work work) *job {
	ctx, cancel := context.WithCancel(j.ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	one.ID, one.cancel, one.ended = j.last, cancel, make(chan struct{})
	one.Began = time.Now()
	j.all = slices.Insert(j.all, 0, one)
	go func() {
		defer cancel()
		defer close(one.ended)
		var err error
		one.Outcome, err = work(ctx, one)
		var own problems
		if ctx.Err() != nil && err != nil && !errors.As(err, &own) {
			err = errors.New("stopped")
		}
		one.Outcome.Problems = problemsOf(err)
	}()
	return one
}

// list returns the jobs, the newest first.
func (j *jobs) list() (all []*job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.all)
}

// stopOthers stops all jobs but one, and what-ifs, which work on copies of the cluster. It
// waits until they have ended.
func (j *jobs) stopOthers(own *job) {
	for _, one := range j.list() {
		if one != own && one.Again == "" {
			one.cancel()
			<-one.ended
		}
	}
}

// get returns nil if there is no such job.
func (j *jobs) get(id string) *job {
	for _, one := range j.list() {
		if strconv.Itoa(one.ID) == id {
			return one
		}
	}
	return nil
}

func (j *jobs) whatIfs() []*job {
	return slices.DeleteFunc(j.list(), func(one *job) bool { return one.Again == "" })
}

// Form is the address of a what-if's form, with the text that was tried.
func (j *job) Form() string {
	if strings.Contains(j.Again, "?") {
		return j.Again + "&from=" + strconv.Itoa(j.ID)
	}
	return j.Again + "?from=" + strconv.Itoa(j.ID)
}

// tried is the text that the what-if of a form's query has tried, or else the usual one.
func (p *page) tried(r *http.Request, usual string) string {
	from := p.jobs.get(r.URL.Query().Get("from"))
	if from == nil {
		return usual
	}
	return cmp.Or(from.Tried, usual)
}

// Ended reports whether the job has ended.
func (j *job) Ended() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

func (j *job) progress(done, of int) { j.report(progress{Done: done, Of: of}) }

func (j *job) report(now progress) { j.update(func(at *progress) { *at = now }) }

func (j *job) update(change func(*progress)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.state)
}

// Progress is how far the job is now.
func (j *job) Progress() progress {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state
}

// soon is how long a request waits for its job, so that most responses have the outcome and
// no progress.
const soon = 400 * time.Millisecond

func (p *page) job(w http.ResponseWriter, r *http.Request) error {
	one := p.jobs.get(r.PathValue("id"))
	if one == nil {
		return problems{{Message: "the simulator does not know this job: it has restarted"}}
	}
	return p.await(w, r, one)
}

func (p *page) cancelJob(w http.ResponseWriter, r *http.Request) error {
	one := p.jobs.get(r.PathValue("id"))
	if one != nil {
		one.cancel() // its progress then shows the outcome
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// await sends the outcome of a job if it ends soon, and else its progress, which asks again
// by itself. The query "aside" is for the edge of the page, where jobs are whose form is closed.
func (p *page) await(w http.ResponseWriter, r *http.Request, one *job) error {
	aside := r.URL.Query().Has("aside")
	select {
	case <-one.ended:
	case <-time.After(soon):
		if aside {
			return fragment(w, r, "aside", one)
		}
		return fragment(w, r, "job", one)
	case <-r.Context().Done():
		return nil
	}
	switch end := one.Outcome; {
	case aside && len(end.Problems) == 0 && len(end.Remarks) == 0 && end.Link == "" && one.Drains == "":
		notify(w, end.Notice, true)
		return nil
	case aside:
		return fragment(w, r, "aside-ended", one)
	case len(end.Problems) > 0:
		return end.Problems
	case end.Link != "":
		w.Header().Set("HX-Redirect", end.Link)
		return nil
	case len(end.Remarks) > 0:
		return fragment(w, r, "job-remarks", end)
	default:
		return done(w, r, end.Notice)
	}
}

// done closes a form and shows a notice.
func done(w http.ResponseWriter, r *http.Request, notice string) error {
	notify(w, notice, true)
	return fragment(w, r, "problems", problems(nil))
}

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
	if !one.Compares {
		return p.show(w, r, "kept", one.Title, resultsTab, template.HTML(one.result))
	}
	w.Header().Set("Content-Security-Policy", compare.Policy)
	send(w, http.StatusOK, one.result)
	return nil
}
