package recorder

import (
	"context"
	"sync"
	"testing"

	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
)

// TestManyFiltersAtOnce is one for the race detector, with a reader at the same time.
func TestManyFiltersAtOnce(t *testing.T) {
	changes := make(chan struct{}, 1)
	r, sched := New(func() {
		select {
		case changes <- struct{}{}:
		default:
		}
	}), newRealScheduler(t, 100)
	detach := r.Attach(sched, asTyped)
	defer detach()
	ctx, cancel := context.WithCancel(t.Context())
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-changes:
				for _, a := range r.Attempts("ns", "p") {
					a.Nodes()
				}
			case <-ctx.Done():
				return
			}
		}
	})
	for range 2 * MaxPerPod {
		one(ctx, sched, newPod("p"))
	}
	cancel()
	reader.Wait()
	attempts := r.Attempts("ns", "p")
	if len(attempts) != MaxPerPod {
		t.Fatalf("%d attempts are kept", len(attempts))
	}
	for _, a := range attempts {
		if a.Result != Failed || a.Message != "no node fits" || a.Evaluated != 100 || a.Columns[4].Failed != 50 || len(a.Nodes()) != 100 {
			t.Fatalf("got %+v", a)
		}
	}
}

func TestStoppedSchedulerLeavesNoAttemptPending(t *testing.T) {
	r, sched := New(nothing), newRealScheduler(t, 2)
	detach := r.Attach(sched, asTyped)
	sched.SchedulePod(t.Context(), sched.Profiles["default-scheduler"], schedframework.NewCycleState(), hooks.Enqueue(newPod("p"))) // and no end
	detach()
	a := r.Attempts("ns", "p")[0]
	if a.Result != Failed || a.Message == "" {
		t.Errorf("got %+v", a)
	}
}

func TestBindingThatOutlivesItsSchedulerIsStillRecorded(t *testing.T) {
	r, sched := New(nothing), newRealScheduler(t, 2)
	detach := r.Attach(sched, asTyped)
	fwk, pod := sched.Profiles["default-scheduler"], newPod("p")
	sched.SchedulePod(t.Context(), fwk, schedframework.NewCycleState(), hooks.Enqueue(pod))
	detach()
	fwk.RunPostBindPlugins(t.Context(), schedframework.NewCycleState(), pod, "node-00000")
	a := r.Attempts("ns", "p")[0]
	if a.Result != Scheduled || a.Node != "node-00000" {
		t.Errorf("got %+v", a)
	}
}

func TestLatestAttemptIsOneThatHasEnded(t *testing.T) {
	r, sched := New(nothing), newRealScheduler(t, 2)
	defer r.Attach(sched, asTyped)()
	one(t.Context(), sched, newPod("p"))
	sched.SchedulePod(t.Context(), sched.Profiles["default-scheduler"], schedframework.NewCycleState(), hooks.Enqueue(newPod("p"))) // and no end
	a, ok := r.Latest("ns", "p")
	if !ok || a.Number != 1 || a.Result != Failed {
		t.Errorf("got %+v, %v", a, ok)
	}
	if _, ok := r.Latest("ns", "other"); ok {
		t.Error("a pod without attempts has one")
	}
}
