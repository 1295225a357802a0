package controllermanager

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/clock"
)

// queue is the workqueue of a controller. Its worker works off one key each time that it is called: Get returns this key, and
// then that the queue is shut down, upon which the worker returns. Delayed keys are due by the engine's clock. Nothing calls the
// methods of a workqueue that it lacks.
type queue struct {
	workqueue.TypedRateLimitingInterface[string]
	name   string
	clock  *clock.Clock
	worker func(context.Context)

	mu        sync.Mutex // a plugin may write to the cluster, and so have keys added, on a goroutine of its own
	keys      []string   // in the order in which they were added
	dirty     map[string]bool
	offered   string // the key that Get returns, or empty
	syncing   string // the key that the worker works on, or empty
	later     bool   // the worker wants to sync it once more after a time
	delayed   map[string]time.Time
	failed    workqueue.TypedRateLimiter[string]
	syncs     map[string]int  // since the clock was last stepped
	losing    map[string]int  // how many of these created a pod that its kubelet rejected, or that had no node
	blocked   map[string]bool // keys that are not added in this run
	endless   map[string]bool // keys that were blocked in any run
	unchanged map[string]int  // how many delayed syncs of a key in a row changed nothing
	abandoned map[string]bool // keys with maxUnchanged

	ignoresDelays bool // of keys that did not fail
}

// maxUnchanged is how many delayed syncs of a key may change nothing before further ones wait for a change. Backoffs reach the
// horizon with fewer.
const maxUnchanged = 50

func newBackoff() workqueue.TypedRateLimiter[string] {
	const first = 5 * time.Millisecond
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](first, first<<16)
}

func newQueue(name string, c *clock.Clock, worker func(context.Context)) *queue {
	return &queue{
		name: name, clock: c, worker: worker, dirty: map[string]bool{}, delayed: map[string]time.Time{},
		failed: newBackoff(), syncs: map[string]int{}, losing: map[string]int{}, blocked: map[string]bool{}, endless: map[string]bool{}, unchanged: map[string]int{}, abandoned: map[string]bool{},
	}
}

// Add implements workqueue.TypedInterface. It is called when something has changed.
func (q *queue) Add(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.unchanged, key)
	q.add(key)
}

// add needs the lock.
func (q *queue) add(key string) {
	if q.dirty[key] || q.blocked[key] {
		return
	}
	q.dirty[key] = true
	if q.syncing != key {
		q.keys = append(q.keys, key)
	}
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *queue) AddAfter(key string, delay time.Duration) {
	if !q.ignoresDelays {
		q.addAfter(key, delay)
	}
}

func (q *queue) addAfter(key string, delay time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.later = q.later || key == q.syncing
	switch {
	case delay <= 0:
		q.add(key)
	case q.unchanged[key] >= maxUnchanged:
		q.abandoned[key] = true
	default:
		at := q.clock.Now().Add(delay)
		before, ok := q.delayed[key]
		if !ok || at.Before(before) {
			q.delayed[key] = at
		}
	}
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *queue) AddRateLimited(key string) { q.addAfter(key, q.failed.When(key)) }

// Forget implements workqueue.TypedRateLimitingInterface.
func (q *queue) Forget(key string) { q.failed.Forget(key) }

// NumRequeues implements workqueue.TypedRateLimitingInterface.
func (q *queue) NumRequeues(key string) int { return q.failed.NumRequeues(key) }

// Get implements workqueue.TypedInterface.
func (q *queue) Get() (key string, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	key = q.offered
	q.offered = ""
	return key, key == ""
}

// Done implements workqueue.TypedInterface.
func (q *queue) Done(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.syncing = ""
	if !q.later {
		delete(q.abandoned, key)
	}
	if q.dirty[key] {
		q.keys = append(q.keys, key)
	}
}

// next takes the first key, and says how often it was synced since the clock was last stepped.
func (q *queue) next() (key string, syncs int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.keys) == 0 {
		return "", 0, false
	}
	key = q.keys[0]
	q.keys = q.keys[1:]
	delete(q.dirty, key)
	q.syncs[key]++
	q.syncing = key
	q.later = false
	q.offered = key
	return key, q.syncs[key], true
}

// block has a key not be added any more in this run.
func (q *queue) block(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.blocked[key] = true
	q.endless[key] = true
}

// changed has the next delayed syncs of a key take place.
func (q *queue) changed(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.unchanged, key)
}

// retries is when failed keys are due after a change, at the latest: after what reacts to it, such as the Job controller, which waits for 10 s
// after a pod has failed. In a cluster they are due in up to 16 minutes: another workload gets what is left of a quota first.
const retries = 15 * time.Second

// beginRun has blocked keys be added again, and failed keys be due soon, since something has changed.
func (q *queue) beginRun() {
	soon := q.clock.Now().Add(retries)
	q.mu.Lock()
	defer q.mu.Unlock()
	for key := range q.delayed {
		if q.NumRequeues(key) > 0 && q.delayed[key].After(soon) {
			q.delayed[key] = soon
		}
	}
	q.failed = newBackoff()
	clear(q.unchanged)
	clear(q.blocked)
	clear(q.syncs)
	clear(q.losing)
}

// due is when the first delayed key is due, or the zero time.
func (q *queue) due() (first time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, at := range q.delayed {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// addDue adds the delayed keys that are due, the first first.
func (q *queue) addDue(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.syncs)
	clear(q.losing)
	var keys []string
	for key, at := range q.delayed {
		if !at.After(now) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(q.delayed[a].Compare(q.delayed[b]), cmp.Compare(a, b)) })
	for _, key := range keys {
		delete(q.delayed, key)
		q.unchanged[key]++
		q.add(key)
	}
}
