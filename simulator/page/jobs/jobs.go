// Package jobs is work that a person starts on the page and that takes its time. A
// browser that leaves does not stop it; one that asks again is told how far it is,
// and in the end what came of it.
//
// It knows nothing of HTTP: how a job is shown is the page's. It is no API.
package jobs

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// kept is how many jobs can be asked about, unless more are under way.
const kept = 16

// Jobs are those under way, and the last ones that were.
type Jobs struct {
	ctx context.Context

	mu   sync.Mutex
	last int
	all  []*Job
}

// New has jobs end with ctx.
func New(ctx context.Context) *Jobs { return &Jobs{ctx: ctx} }

// Job is one such work.
type Job struct {
	ID    int
	Title string

	cancel   context.CancelFunc
	finished chan struct{}
	outcome  Outcome // set before finished is closed

	mu       sync.Mutex
	done, of int
	phases   []string
}

// Outcome is what came of a job.
type Outcome struct {
	// Notice says in a line what was done.
	Notice   string
	Problems []typed.Problem
	// Remarks are on what was done, for a person to read.
	Remarks []snapshot.Notice
	// Link is where what came of it is shown, if not where it was started.
	Link string
}

// Start begins work, which tells its job how far it is.
func (j *Jobs) Start(title string, work func(context.Context, *Job) Outcome) *Job {
	ctx, cancel := context.WithCancel(j.ctx)
	j.mu.Lock()
	j.last++
	one := &Job{ID: j.last, Title: title, cancel: cancel, finished: make(chan struct{})}
	j.all = append(j.all, one)
	j.forget()
	j.mu.Unlock()
	go func() {
		defer cancel()
		defer close(one.finished)
		one.outcome = work(ctx, one)
	}()
	return one
}

// forget drops the oldest job that is finished, if there are too many.
func (j *Jobs) forget() {
	if oldest := slices.IndexFunc(j.all, (*Job).Ended); oldest >= 0 && len(j.all) > kept {
		j.all = slices.Delete(j.all, oldest, oldest+1)
	}
}

// Get is the job with an ID, or nil if nothing is known of it any more.
func (j *Jobs) Get(id string) *Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.all, func(one *Job) bool { return strconv.Itoa(one.ID) == id })
	if i < 0 {
		return nil
	}
	return j.all[i]
}

// Running are the jobs that are not finished.
func (j *Jobs) Running() []*Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.all), (*Job).Ended)
}

// Cancel ends the job early. What came of it is told as of any other.
func (j *Job) Cancel() { j.cancel() }

// Finished is closed at the end of the job.
func (j *Job) Finished() <-chan struct{} { return j.finished }

// Ended reports whether the job is finished.
func (j *Job) Ended() bool {
	select {
	case <-j.finished:
		return true
	default:
		return false
	}
}

// Outcome is what came of the job. Call it once it is finished.
func (j *Job) Outcome() Outcome { return j.outcome }

// Progress tells how far the work is.
func (j *Job) Progress(done, of int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done, j.of = done, of
}

// Say tells what the work is at, a line for each of the things that it is at.
func (j *Job) Say(phases ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.phases = phases
}

// Phases are what the job is at, if it tells.
func (j *Job) Phases() []string { j.mu.Lock(); defer j.mu.Unlock(); return j.phases }

// Done and Of are how far the job is; Of is 0 if nobody knows.
func (j *Job) Done() int { j.mu.Lock(); defer j.mu.Unlock(); return j.done }
func (j *Job) Of() int   { j.mu.Lock(); defer j.mu.Unlock(); return j.of }
