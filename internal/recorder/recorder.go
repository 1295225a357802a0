// Package recorder keeps what kube-scheduler does with each pod: every attempt,
// with what each plugin and each extender said of each node, and why.
//
// It stands between the scheduler and its frameworks (see Attach), and changes
// nothing of what they decide. What it keeps is in memory and bounded; nothing is
// ever written to the cluster.
package recorder

import (
	"context"

	"k8s.io/kubernetes/pkg/scheduler"
)

// Recorder keeps attempts. It outlives the schedulers that it is attached to.
type Recorder struct{}

// New makes a recorder.
func New() *Recorder { return &Recorder{} }

// Attach makes a scheduler that does not run yet report to the recorder.
func (r *Recorder) Attach(sched *scheduler.Scheduler) error { return nil }

// Attempts returns the attempts for a pod, the newest first.
func (r *Recorder) Attempts(namespace, name string) []Attempt { return nil }

// Attempt returns one of a pod's attempts.
func (r *Recorder) Attempt(namespace, name string, id uint64) (Attempt, bool) {
	return Attempt{}, false
}

// Last returns the newest attempt for a pod.
func (r *Recorder) Last(namespace, name string) (Attempt, bool) { return Attempt{}, false }

// Subscribe returns a channel that gets a value soon after anything was
// recorded. Several changes may share a value, so read the state anew. The
// subscription ends with ctx.
func (r *Recorder) Subscribe(ctx context.Context) <-chan struct{} { return make(chan struct{}, 1) }

// Reset forgets everything.
func (r *Recorder) Reset() {}

// details are the rows of an attempt, packed.
type details struct{}

func (d *details) nodes() []NodeVerdict               { return nil }
func (d *details) scores([]ScoreColumn) []NodeScore { return nil }
