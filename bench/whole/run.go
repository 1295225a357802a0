package whole

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/bench/door"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
)

// run lets a scheduler loose on pods that are all there when it starts, and
// takes the time from its first look at one to the last binding that the API
// server tells of.
func (b *bench) run(ctx context.Context, d door.Door, result *Result) (err error) {
	service, err := d.Serve(ctx)
	if err != nil {
		return err
	}
	if service.Close != nil {
		defer func() { err = errors.Join(err, service.Close()) }()
	}
	if err := b.createPods(ctx); err != nil {
		return err
	}
	events, err := b.watch(ctx)
	if err != nil {
		return err
	}
	defer events.Stop()
	runtime.GC()
	clock := &clock{}
	stop, ended := b.schedule(ctx, service, clock)
	n, last, err := b.await(ctx, events, ended)
	stop()
	if err = errors.Join(err, <-ended); err != nil {
		return err
	}
	result.Left += b.plan.Pods - n
	result.Latency = append(result.Latency, clock.took...)
	if n > 0 {
		result.Rate = append(result.Rate, float64(n)/last.Sub(clock.first).Seconds())
	}
	return b.deletePods(ctx)
}

// watch tells what becomes of the pods from now on. It begins anew where the API
// server closes it, as it does when the machine is too busy to read in time.
func (b *bench) watch(ctx context.Context) (watch.Interface, error) {
	pods := b.client.CoreV1().Pods(metav1.NamespaceDefault)
	now, err := pods.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	return watchtools.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &cache.ListWatch{WatchFuncWithContext: pods.Watch})
}

// schedule runs the scheduler until stop is called.
func (b *bench) schedule(ctx context.Context, service door.Service, clock *clock) (stop func(), ended chan error) {
	ctx, stop = context.WithCancel(ctx)
	ended = make(chan error, 1)
	go func() {
		ended <- kubescheduler.Run(ctx, kubescheduler.Options{
			Kubeconfig: b.kubeconfig,
			Config:     []byte(service.Config),
			Plugins:    service.Plugins,
			Prepare:    clock.attach,
		})
	}()
	return stop, ended
}

// await counts the pods that are bound, and returns when the last one was. It
// returns early when the time is up.
func (b *bench) await(ctx context.Context, events watch.Interface, ended chan error) (n int, last time.Time, err error) {
	limit := time.NewTimer(b.plan.Limit)
	defer limit.Stop()
	seen := map[string]bool{}
	for len(seen) < b.plan.Pods {
		select {
		case event, open := <-events.ResultChan():
			pod, ok := event.Object.(*v1.Pod)
			if !open || !ok {
				return 0, last, fmt.Errorf("the watch of the pods has ended: %+v", event.Object)
			}
			if bound(pod) && !seen[pod.Name] {
				seen[pod.Name], last = true, time.Now()
			}
		case err := <-ended:
			ended <- nil
			return 0, last, fmt.Errorf("the scheduler has ended: %w", err)
		case <-limit.C:
			return len(seen), last, nil
		case <-ctx.Done():
			return 0, last, context.Cause(ctx)
		}
	}
	return len(seen), last, nil
}

// clock takes the time of each scheduling cycle. They come one after another.
type clock struct {
	first time.Time
	took  []float64
}

func (c *clock) attach(s *scheduler.Scheduler) error {
	schedulePod := s.SchedulePod
	s.SchedulePod = func(ctx context.Context, profile framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		began := time.Now()
		if c.first.IsZero() {
			c.first = began
		}
		result, err := schedulePod(ctx, profile, state, pod)
		c.took = append(c.took, float64(time.Since(began)))
		return result, err
	}
	return nil
}
