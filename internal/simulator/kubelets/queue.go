package kubelets

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

// queue has each object of a kind looked at, again and again until that succeeds,
// and by nobody else at the same time.
type queue struct {
	kind     string // as warnings name it
	look     func(context.Context, cache.ObjectName) error
	warnings *log.Logger
	names    workqueue.TypedRateLimitingInterface[cache.ObjectName]
	workers  sync.WaitGroup
}

func newQueue(kind string, look func(context.Context, cache.ObjectName) error, warnings *log.Logger) *queue {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](retryAfter, retryAtMost)
	return &queue{kind: kind, look: look, warnings: warnings, names: workqueue.NewTypedRateLimitingQueue(limiter)}
}

// add takes a node or a pod.
func (q *queue) add(object any) {
	name, err := cache.ObjectToName(object)
	if err != nil {
		panic(err) // informers hand out nothing but objects
	}
	q.names.Add(name)
}

func (q *queue) start(ctx context.Context) {
	for range parallelism {
		q.workers.Go(func() {
			for q.next(ctx) {
			}
		})
	}
}

// stop waits until the last look has ended.
func (q *queue) stop() {
	q.names.ShutDown()
	q.workers.Wait()
}

func (q *queue) next(ctx context.Context) (more bool) {
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
