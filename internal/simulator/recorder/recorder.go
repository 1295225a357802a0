// Package recorder keeps what kube-scheduler does with each pod: every attempt,
// with what each plugin and each extender said of each node, and why.
//
// It stands between the scheduler and its frameworks (see [Recorder.Attach]), and
// changes nothing of what they decide. What it keeps is in memory and bounded;
// nothing is ever written to the cluster.
package recorder

import (
	"container/list"
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/broadcast"
)

// What a recorder keeps. Past a bound the oldest goes first.
const (
	// MaxPerPod is how many attempts are kept for a pod.
	MaxPerPod = 20
	// MaxAttempts is how many are kept in all.
	MaxAttempts = 20_000
	// MaxBytes bounds, roughly, the memory for verdicts and scores by node. An
	// attempt that loses them keeps its summary.
	MaxBytes = 64 << 20
)

type limits struct{ perPod, attempts, bytes int }

// Recorder keeps attempts. It outlives the schedulers that it is attached to.
type Recorder struct {
	limits limits

	mu      sync.Mutex
	lastID  uint64
	pods    map[types.NamespacedName][]*record // the oldest first
	order   list.List                          // all of them, likewise
	packed  list.List                          // those that have details
	bytes   int                                // of details and of their name lists
	changed broadcast.Signal
}

// New makes a recorder.
func New() *Recorder {
	return newRecorder(limits{perPod: MaxPerPod, attempts: MaxAttempts, bytes: MaxBytes})
}

func newRecorder(l limits) *Recorder {
	return &Recorder{limits: l, pods: map[types.NamespacedName][]*record{}}
}

// Attempts returns the attempts for a pod, the newest first.
func (r *Recorder) Attempts(namespace, name string) []Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.pods[types.NamespacedName{Namespace: namespace, Name: name}]
	attempts := make([]Attempt, 0, len(kept))
	for i := len(kept) - 1; i >= 0; i-- {
		attempts = append(attempts, kept[i].attempt())
	}
	return attempts
}

// Attempt returns one of a pod's attempts.
func (r *Recorder) Attempt(namespace, name string, id uint64) (Attempt, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range r.pods[types.NamespacedName{Namespace: namespace, Name: name}] {
		if rec.id == id {
			return rec.attempt(), true
		}
	}
	return Attempt{}, false
}

// Last returns the newest attempt for a pod.
func (r *Recorder) Last(namespace, name string) (Attempt, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.pods[types.NamespacedName{Namespace: namespace, Name: name}]
	if len(kept) == 0 {
		return Attempt{}, false
	}
	return kept[len(kept)-1].attempt(), true
}

// Subscribe returns a channel that gets a value soon after anything was
// recorded. Several changes may share a value, so read the state anew. The
// subscription ends with ctx; the channel is never closed.
func (r *Recorder) Subscribe(ctx context.Context) <-chan struct{} { return r.changed.Subscribe(ctx) }

// Reset forgets everything.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.order.Len() > 0 {
		r.dropOldest()
	}
	r.changed.Send()
}

// add keeps a new attempt.
func (r *Recorder) add(rec *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastID++
	rec.id, rec.number = r.lastID, 1
	kept := r.pods[rec.pod]
	if n := len(kept); n > 0 && kept[n-1].uid == rec.uid {
		rec.number = kept[n-1].number + 1
	}
	r.pods[rec.pod] = append(kept, rec)
	rec.inOrder = r.order.PushBack(rec)
	if len(kept) == r.limits.perPod {
		r.forget(kept[0])
	}
	for r.order.Len() > r.limits.attempts {
		r.dropOldest()
	}
	r.changed.Send()
}

// update changes an attempt.
func (r *Recorder) update(rec *record, change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	r.changed.Send()
}

// pack gives an attempt its rows.
func (r *Recorder) pack(rec *record, d *details) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.inOrder == nil || rec.details != nil {
		return // forgotten meanwhile
	}
	rec.details = d
	r.bytes += d.retain()
	rec.inPacked = r.packed.PushBack(rec)
	for r.bytes > r.limits.bytes && r.packed.Len() > 0 {
		r.unpack(r.packed.Front().Value.(*record))
	}
}

func (r *Recorder) dropOldest() { r.forget(r.order.Front().Value.(*record)) }

// forget drops an attempt, which is the oldest of its pod.
func (r *Recorder) forget(rec *record) {
	r.unpack(rec)
	r.order.Remove(rec.inOrder)
	rec.inOrder = nil
	if kept := r.pods[rec.pod]; len(kept) > 1 {
		r.pods[rec.pod] = append(kept[:0:0], kept[1:]...)
	} else {
		delete(r.pods, rec.pod)
	}
}

// unpack drops the rows of an attempt.
func (r *Recorder) unpack(rec *record) {
	if rec.inPacked == nil {
		return
	}
	r.bytes -= rec.details.release()
	r.packed.Remove(rec.inPacked)
	rec.inPacked, rec.details = nil, dropped
}
