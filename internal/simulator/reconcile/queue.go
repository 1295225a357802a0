// Package reconcile has objects looked at until what is missing is done: the loop
// of every controller.
//
// A look takes the object as it is then, and not what has happened to it. What it
// writes carries the resource version, or the UID, that was looked at; so it meets
// no other object and undoes no one else's change.
package reconcile

import (
	"context"
	"errors"
	"io"
	"log"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Queue has each object of a kind looked at until that succeeds, one look at a time.
type Queue struct {
	kind     string // as warnings name it
	look     func(context.Context, cache.ObjectName) error
	warnings *log.Logger
	names    workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

// NewQueue makes a queue of objects of a kind, as warnings name it. What look fails
// with is written to warnings.
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

// Run has queues looked at until ctx is done, whose end ends the requests of looks.
// wait returns when the last look has ended.
func Run(ctx context.Context, queues ...*Queue) (wait func()) {
	var workers sync.WaitGroup
	for _, q := range queues {
		for range parallelism {
			workers.Go(func() {
				for q.next(ctx) {
				}
			})
		}
		context.AfterFunc(ctx, q.names.ShutDown)
	}
	return workers.Wait
}

func (q *Queue) next(ctx context.Context) (more bool) {
	name, shutdown := q.names.Get()
	if shutdown {
		return false
	}
	defer q.names.Done(name)
	switch err := q.look(ctx, name); {
	case err == nil:
		q.names.Forget(name)
		return true
	case ctx.Err() != nil:
	case apierrors.IsConflict(err), apierrors.IsNotFound(err): // the cache will say so in a moment
	default:
		q.warnings.Printf("%s %s: %v; trying again", q.kind, name, err)
	}
	q.names.AddRateLimited(name)
	return true
}

// Watch does something with each object of an informer that appears or changes.
func Watch(informer cache.SharedIndexInformer, do func(object any)) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: do, UpdateFunc: func(_, now any) { do(now) }})
	return err
}

// WatchErrors writes to warnings what a watch fails with, but for the ends that
// watches have.
func WatchErrors(warnings *log.Logger) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, r *cache.Reflector, err error) {
		usual := apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if ctx.Err() == nil && !usual {
			warnings.Printf("watch %s: %v; trying again", r.TypeDescription(), err)
		}
	}
}

// StripManagedFields is a transform of informers. It omits a third of each
// object, which is not read here and which need not be sent back.
func StripManagedFields(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	return object, nil
}
