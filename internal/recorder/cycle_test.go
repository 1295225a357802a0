package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
	schedprofile "k8s.io/kubernetes/pkg/scheduler/profile"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
)

// fakeFramework has one plugin, which every other node fails. What is not needed
// here panics.
type fakeFramework struct {
	schedframework.Framework
	snapshot *internalcache.Snapshot
	status   *framework.Status
}

func newFakeFramework(nodes int) *fakeFramework {
	list := make([]*v1.Node, nodes)
	for i := range list {
		list[i] = &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%05d", i)}}
	}
	return &fakeFramework{
		snapshot: internalcache.NewSnapshot(nil, list),
		status:   framework.NewStatus(framework.Unschedulable, "node(s) didn't match the pod's node name regex").WithPlugin("A"),
	}
}

func (f *fakeFramework) ProfileName() string                          { return "default-scheduler" }
func (f *fakeFramework) SnapshotSharedLister() framework.SharedLister { return f.snapshot }

func (f *fakeFramework) ListPlugins() *config.Plugins {
	a := config.PluginSet{Enabled: []config.Plugin{{Name: "A"}}}
	return &config.Plugins{PreFilter: a, Filter: a}
}

func (f *fakeFramework) RunPreFilterPlugins(context.Context, framework.CycleState, *v1.Pod) (*framework.PreFilterResult, *framework.Status, sets.Set[string]) {
	return nil, nil, nil
}

func (f *fakeFramework) RunFilterPluginsWithNominatedPods(_ context.Context, _ framework.CycleState, _ *v1.Pod, node framework.NodeInfo) *framework.Status {
	name := node.Node().Name
	if name[len(name)-1]%2 == 1 {
		return f.status
	}
	return nil
}

func (f *fakeFramework) RunPostBindPlugins(context.Context, framework.CycleState, *v1.Pod, string) {}

// goroutines is how many kube-scheduler filters with.
const goroutines = 16

// filter asks about all nodes at once, as the scheduler does.
func filter(ctx context.Context, fwk schedframework.Framework, state framework.CycleState, queued *hooks.Queued) (scheduler.ScheduleResult, error) {
	pod := hooks.PodOf(queued)
	fwk.RunPreFilterPlugins(ctx, state, pod)
	nodes, err := fwk.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return scheduler.ScheduleResult{}, err
	}
	var running sync.WaitGroup
	for from := range goroutines {
		running.Go(func() {
			for i := from; i < len(nodes); i += goroutines {
				fwk.RunFilterPluginsWithNominatedPods(ctx, state, pod, nodes[i])
			}
		})
	}
	running.Wait()
	return scheduler.ScheduleResult{}, errors.New("no node fits")
}

// newScheduler is one that does nothing but filter.
func newScheduler(nodes int) *scheduler.Scheduler {
	return &scheduler.Scheduler{
		Profiles:    schedprofile.Map{"default-scheduler": newFakeFramework(nodes)},
		SchedulePod: filter,
		FailureHandler: func(context.Context, schedframework.Framework, *schedframework.QueuedPodInfo, *framework.Status, *framework.NominatingInfo, time.Time) {
		},
	}
}

// one does what the scheduler does with a pod.
func one(ctx context.Context, sched *scheduler.Scheduler, pod *v1.Pod) {
	fwk := sched.Profiles["default-scheduler"]
	_, err := sched.SchedulePod(ctx, fwk, schedframework.NewCycleState(), hooks.Enqueue(pod))
	sched.FailureHandler(ctx, fwk, queued(pod), framework.AsStatus(err), nil, time.Now())
}

func queued(pod *v1.Pod) *schedframework.QueuedPodInfo {
	return &schedframework.QueuedPodInfo{PodInfo: &schedframework.PodInfo{Pod: pod}}
}

func newPod(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}}
}

// TestManyFiltersAtOnce is one for the race detector, with a reader at the same time.
func TestManyFiltersAtOnce(t *testing.T) {
	changes := make(chan struct{}, 1)
	r, sched := New(func() {
		select {
		case changes <- struct{}{}:
		default:
		}
	}), newScheduler(100)
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
		if a.Result != Failed || a.Message != "no node fits" || a.Evaluated != 100 || a.Columns[0].Failed != 50 || len(a.Nodes()) != 100 {
			t.Fatalf("got %+v", a)
		}
	}
}

func TestStoppedSchedulerLeavesNoAttemptPending(t *testing.T) {
	r, sched := New(nothing), newScheduler(1)
	detach := r.Attach(sched, asTyped)
	sched.SchedulePod(t.Context(), sched.Profiles["default-scheduler"], schedframework.NewCycleState(), hooks.Enqueue(newPod("p"))) // and no end
	detach()
	a := r.Attempts("ns", "p")[0]
	if a.Result != Failed || a.Message == "" {
		t.Errorf("got %+v", a)
	}
}

func TestBindingThatOutlivesItsSchedulerIsStillRecorded(t *testing.T) {
	r, sched := New(nothing), newScheduler(1)
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
	r, sched := New(nothing), newScheduler(1)
	defer r.Attach(sched, asTyped)()
	one(t.Context(), sched, newPod("p"))
	sched.SchedulePod(t.Context(), sched.Profiles["default-scheduler"], schedframework.NewCycleState(), hooks.Enqueue(newPod("p"))) // and no end
	if a, ok := r.Latest("ns", "p"); !ok || a.Number != 1 || a.Result != Failed {
		t.Errorf("got %+v, %v", a, ok)
	}
	if _, ok := r.Latest("ns", "other"); ok {
		t.Error("a pod without attempts has one")
	}
}
