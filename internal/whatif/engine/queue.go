package engine

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// queue is the workqueue of a controller. A worker gets a key when the engine says so, and the engine waits
// until it is done. Delayed keys are due by the engine's clock.
type queue struct {
	name  string
	clock *clock
	was   workqueue.TypedInterface[string] // the controller's own: a ReplicationManager's handlers still add to it
	give  chan string
	done  chan struct{}
	ended chan struct{} // is closed when the queue is shut down, which controllers do, too, as soon as their context is done

	mu       sync.Mutex
	keys     []string // in the order in which they were added
	dirty    map[string]bool
	working  map[string]bool
	delayed  map[string]time.Time
	requeues map[string]int
	synced   map[string]int  // since the clock was last stepped
	resting  map[string]bool // keys that are not added any more in this run
	idle     map[string]int  // how often a delayed key was worked off in vain, since something else added it
	rested   map[string]bool // keys that came to mostIdle
	closed   bool
}

func newQueue(name string, c *clock, was workqueue.TypedInterface[string]) *queue {
	return &queue{
		name: name, clock: c, was: was, give: make(chan string), done: make(chan struct{}), ended: make(chan struct{}),
		dirty: map[string]bool{}, working: map[string]bool{}, delayed: map[string]time.Time{}, requeues: map[string]int{}, synced: map[string]int{}, resting: map[string]bool{}, idle: map[string]int{}, rested: map[string]bool{},
	}
}

// Add implements workqueue.TypedInterface. It is called when something has changed.
func (q *queue) Add(key string) {
	q.progress(key)
	q.add(key)
}

// progress has a key be looked at again after a time.
func (q *queue) progress(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.idle, key)
}

func (q *queue) add(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dirty[key] || q.closed || q.resting[key] {
		return
	}
	q.dirty[key] = true
	if !q.working[key] {
		q.keys = append(q.keys, key)
	}
}

// Len implements workqueue.TypedInterface.
func (q *queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.keys)
}

// Get implements workqueue.TypedInterface.
func (q *queue) Get() (key string, shutdown bool) {
	select {
	case key = <-q.give:
		return key, false
	case <-q.ended:
		return "", true
	}
}

// Done implements workqueue.TypedInterface.
func (q *queue) Done(key string) {
	q.mu.Lock()
	delete(q.working, key)
	if q.dirty[key] {
		q.keys = append(q.keys, key)
	}
	q.mu.Unlock()
	select {
	case q.done <- struct{}{}:
	case <-q.ended:
	}
}

// ShutDown implements workqueue.TypedInterface.
func (q *queue) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		q.was.ShutDown()
		close(q.ended)
	}
}

// ShutDownWithDrain implements workqueue.TypedInterface.
func (q *queue) ShutDownWithDrain() { q.ShutDown() }

// ShuttingDown implements workqueue.TypedInterface.
func (q *queue) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// mostIdle is how often a key is worked off after a time, in vain, before it rests until something changes. Backoffs come to
// the horizon with fewer.
const mostIdle = 50

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *queue) AddAfter(key string, delay time.Duration) {
	if delay <= 0 {
		q.add(key)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.idle[key] >= mostIdle {
		q.rested[key] = true
		return
	}
	at := q.clock.Now().Add(delay)
	before, ok := q.delayed[key]
	if !ok || at.Before(before) {
		q.delayed[key] = at
	}
}

// How long a key waits that a controller could not work off, as upstream.
const (
	firstBackoff = 5 * time.Millisecond
	doublings    = 16
)

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *queue) AddRateLimited(key string) {
	q.mu.Lock()
	failures := min(q.requeues[key], doublings)
	q.requeues[key]++
	q.mu.Unlock()
	q.AddAfter(key, firstBackoff<<failures)
}

// Forget implements workqueue.TypedRateLimitingInterface.
func (q *queue) Forget(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.requeues, key)
}

// NumRequeues implements workqueue.TypedRateLimitingInterface.
func (q *queue) NumRequeues(key string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.requeues[key]
}

// next takes the first key.
func (q *queue) next() (key string, ok bool) {
	for q.was.Len() > 0 {
		added, _ := q.was.Get()
		q.was.Done(added)
		q.Add(added)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.keys) == 0 {
		return "", false
	}
	key = q.keys[0]
	q.keys = q.keys[1:]
	delete(q.dirty, key)
	q.working[key] = true
	q.synced[key]++
	return key, true
}

// sync has a worker work off a key that next has taken, unless the queue is shut down.
func (q *queue) sync(key string) {
	select {
	case q.give <- key:
	case <-q.ended:
		return
	}
	select {
	case <-q.done:
	case <-q.ended:
	}
}

func (q *queue) rest(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.resting[key] = true
}

// wake begins a run: keys that rest, or wait since they have failed, are worked off at once, since something has changed.
func (q *queue) wake() {
	now := q.clock.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for key := range q.requeues {
		_, waits := q.delayed[key]
		if waits {
			q.delayed[key] = now
		}
	}
	clear(q.requeues)
	clear(q.idle)
	clear(q.resting)
	clear(q.synced)
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

// release adds the delayed keys that are due, the first first.
func (q *queue) release(now time.Time) {
	q.mu.Lock()
	clear(q.synced)
	var keys []string
	for key, at := range q.delayed {
		if !at.After(now) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(q.delayed[a].Compare(q.delayed[b]), cmp.Compare(a, b)) })
	for _, key := range keys {
		delete(q.delayed, key)
	}
	q.mu.Unlock()
	for _, key := range keys {
		q.mu.Lock()
		q.idle[key]++
		q.mu.Unlock()
		q.add(key)
	}
}
