// Package recorder keeps what kube-scheduler does with each pod: every attempt,
// with what each plugin and each extender said of each node, and why.
//
// It stands between the scheduler, its frameworks and their plugins (see
// [Recorder.Attach]), and changes nothing of what they decide. What it keeps is in
// memory and bounded; it writes nothing to the cluster.
package recorder

import (
	"container/list"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// What a recorder keeps. Past a bound the oldest attempt goes first.
const (
	// MaxPerPod is how many attempts are kept for a pod.
	MaxPerPod = 20
	// MaxAttempts is how many are kept in all.
	MaxAttempts = 20_000
	// MaxGroups is how many groups of nodes they have in all: some ten each, unless
	// a plugin has a reason of its own for each node.
	MaxGroups = 500_000
)

type limits struct{ perPod, attempts, groups int }

// Recorder keeps attempts. It outlives the schedulers that it is attached to.
type Recorder struct {
	limits    limits
	changed   func()
	scheduled func(namespace, name, uid string)

	mu        sync.Mutex
	lastID    uint64
	pods      map[types.NamespacedName][]*record // the oldest first
	order     list.List                          // all of them, likewise
	groups    int                                // that they have
	pushedOut map[types.NamespacedName]*record   // of the pod that made them go
}

// New makes a recorder. It calls changed each time that anything was recorded;
// changed must neither wait nor call the recorder.
func New(changed func()) *Recorder {
	return newRecorder(limits{perPod: MaxPerPod, attempts: MaxAttempts, groups: MaxGroups}, changed)
}

func newRecorder(l limits, changed func()) *Recorder {
	return &Recorder{
		limits: l, changed: changed, scheduled: func(string, string, string) {},
		pods: map[types.NamespacedName][]*record{}, pushedOut: map[types.NamespacedName]*record{},
	}
}

// OnScheduled makes the recorder call f with each pod that has got its node. Call it
// before Attach; f must not wait.
func (r *Recorder) OnScheduled(f func(namespace, name, uid string)) { r.scheduled = f }

// Attempts returns the attempts for a pod, the newest first.
func (r *Recorder) Attempts(namespace, name string) []Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.pods[types.NamespacedName{Namespace: namespace, Name: name}]
	attempts := make([]Attempt, 0, len(kept))
	for i := len(kept) - 1; i >= 0; i-- {
		attempts = append(attempts, r.copy(kept[i]))
	}
	return attempts
}

// Attempt returns one of a pod's attempts.
func (r *Recorder) Attempt(namespace, name string, id uint64) (Attempt, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range r.pods[types.NamespacedName{Namespace: namespace, Name: name}] {
		if rec.id == id {
			return r.copy(rec), true
		}
	}
	return Attempt{}, false
}

// copy is an attempt with what became of the pod later.
func (r *Recorder) copy(rec *record) Attempt {
	a := rec.copy()
	if out, ok := r.evictionOf(rec.pod); ok && out.uid == rec.uid && rec.result == Scheduled {
		a.PushedOut = &out.PushedOut
	}
	return a
}

// Reset forgets everything.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.order.Len() > 0 {
		r.dropOldest()
	}
	r.changed()
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
	r.makeRoom()
	r.changed()
}

// update changes an attempt.
func (r *Recorder) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	r.changed()
}

// keep gives an attempt what was said of nodes. It needs the lock.
func (r *Recorder) keep(rec *record, groups []Group, s *scoring) {
	if rec.inOrder == nil {
		return // forgotten meanwhile
	}
	rec.groups, rec.scoring = groups, s
	r.groups += len(groups)
	r.makeRoom()
}

func (r *Recorder) makeRoom() {
	for r.order.Len() > r.limits.attempts || r.groups > r.limits.groups {
		r.dropOldest()
	}
}

func (r *Recorder) dropOldest() { r.forget(r.order.Front().Value.(*record)) }

// forget drops an attempt, which is the oldest of its pod.
func (r *Recorder) forget(rec *record) {
	r.order.Remove(rec.inOrder)
	rec.inOrder = nil
	r.groups -= len(rec.groups)
	for _, v := range rec.victims {
		if r.pushedOut[v.key] == rec {
			delete(r.pushedOut, v.key)
		}
	}
	if kept := r.pods[rec.pod]; len(kept) > 1 {
		r.pods[rec.pod] = append(kept[:0:0], kept[1:]...)
	} else {
		delete(r.pods, rec.pod)
	}
}
