// Package reconcile has objects looked at until what is missing is done: the loop
// of every controller.
//
// A look takes the object as it is then, and not what has happened to it. What it
// writes carries the resource version, or the UID, that was looked at; so it meets
// no other object and undoes nobody's change.
package reconcile

import (
	"context"
	"log"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	// parallelism is how many requests are under way per kind: more than a small
	// machine has cores, since most of the time of each is waiting.
	parallelism = 16
	// retryAfter and retryAtMost bound the wait before the next look at an object
	// that something failed for.
	retryAfter  = 20 * time.Millisecond
	retryAtMost = 5 * time.Second
)

// Queue has each object of a kind looked at, again and again until that succeeds,
// and by nobody else at the same time.
type Queue struct {
	kind     string // as warnings name it
	look     func(context.Context, cache.ObjectName) error
	warnings *log.Logger
	names    workqueue.TypedRateLimitingInterface[cache.ObjectName]
	workers  sync.WaitGroup
}

// NewQueue makes a queue of objects of a kind, as warnings name it. What look fails
// with is said to warnings.
func NewQueue(kind string, look func(context.Context, cache.ObjectName) error, warnings *log.Logger) *Queue {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](retryAfter, retryAtMost)
	return &Queue{kind: kind, look: look, warnings: warnings, names: workqueue.NewTypedRateLimitingQueue(limiter)}
}

// Add has an object looked at.
func (q *Queue) Add(object any) { q.names.Add(nameOf(object)) }

// AddAfter has an object looked at after a while.
func (q *Queue) AddAfter(object any, wait time.Duration) { q.names.AddAfter(nameOf(object), wait) }

func nameOf(object any) cache.ObjectName {
	name, err := cache.ObjectToName(object)
	if err != nil {
		panic(err) // informers hand out nothing but objects
	}
	return name
}

// Start begins to look, until Stop. Looks are given ctx, whose end ends their requests.
func (q *Queue) Start(ctx context.Context) {
	for range parallelism {
		q.workers.Go(func() {
			for q.next(ctx) {
			}
		})
	}
}

// Stop waits until the last look has ended.
func (q *Queue) Stop() {
	q.names.ShutDown()
	q.workers.Wait()
}

func (q *Queue) next(ctx context.Context) (more bool) {
	name, shutdown := q.names.Get()
	if shutdown {
		return false
	}
	defer q.names.Done(name)
	err := q.look(ctx, name)
	if err == nil {
		q.names.Forget(name)
		return true
	}
	if ctx.Err() == nil && !isOutrun(err) {
		q.warnings.Printf("%s %s: %v; trying again", q.kind, name, err)
	}
	q.names.AddRateLimited(name)
	return true
}

// isOutrun reports that the object is another by now, or gone. The cache will say
// so in a moment.
func isOutrun(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }
