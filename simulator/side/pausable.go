package side

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
)

// pausable is one scheduler that can be paused while things change, that chooses by
// a seed, and that says what it is doing.
type pausable struct {
	*scheduler.Scheduler
	seeded    *seeded
	onAttempt func(pod types.NamespacedName, waited time.Duration) // when an attempt has ended

	asking atomic.Bool // the scheduler waits for a pod

	mu    sync.Mutex
	open  chan struct{}         // closed while pods may be scheduled
	begun int                   // attempts, each for a pod or for a PodGroup
	busy  map[types.UID]busyPod // those that are looked at, or have a node and are not bound yet

	changed    bool      // pods were bound, or deleted by preemption, since budgets were last counted
	preemptors []*v1.Pod // the pods that preemption made room for since then
}

type busyPod struct {
	name   types.NamespacedName
	waited time.Duration // how long preemption for it has waited
}

// newPausable pauses a scheduler that does not run yet, and that the recorder is
// attached to.
func newPausable(sched *scheduler.Scheduler, seed uint64, onAttempt func(types.NamespacedName, time.Duration)) *pausable {
	s := &pausable{
		Scheduler: sched, seeded: newSeeded(seed, sched), onAttempt: onAttempt,
		open: make(chan struct{}), busy: map[types.UID]busyPod{},
	}
	for name, profile := range sched.Profiles {
		sched.Profiles[name] = &seededProfile{profile, s}
	}
	hooks.AroundNext(sched, s.beforeNext, s.afterNext)
	hooks.SkipNext(sched, s.stale)
	sched.SchedulePod = s.schedulePod(sched.SchedulePod)
	sched.FailureHandler = s.failureHandler(sched.FailureHandler)
	return s
}

// pause keeps the scheduler from beginning with another pod. At most one that
// comes first is taken from the queue.
func (s *pausable) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.open:
		s.open = make(chan struct{})
	default:
	}
}

func (s *pausable) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.open:
	default:
		close(s.open)
	}
}

func (s *pausable) await() {
	s.mu.Lock()
	open := s.open
	s.mu.Unlock()
	select {
	case <-open:
	case <-s.StopEverything:
	}
}

func (s *pausable) beforeNext() {
	s.await()
	s.awaitPreemption()
	s.asking.Store(true)
}

func (s *pausable) afterNext(string, int) {
	s.mu.Lock()
	s.begun++
	s.mu.Unlock()
	s.asking.Store(false)
	s.await()
}

// stale is true of a pod that was taken from the queue before a pause, and that is another
// now, or gone. It would take room for a moment, until it cannot be bound.
func (s *pausable) stale(pod *v1.Pod) bool {
	now, err := s.caches().Core().V1().Pods().Lister().Pods(pod.Namespace).Get(pod.Name)
	return err != nil || now.UID != pod.UID || now.Spec.NodeName != ""
}

func (s *pausable) schedulePod(next hooks.SchedulePod) hooks.SchedulePod {
	return func(ctx context.Context, profile framework.Framework, state fwk.CycleState, queued *hooks.Queued) (scheduler.ScheduleResult, error) {
		pod := hooks.PodOf(queued)
		s.mu.Lock()
		s.busy[pod.UID] = busyPod{name: nameOf(pod)}
		s.mu.Unlock()
		result, err := next(ctx, profile, state, queued)
		if err == nil && len(s.Extenders) > 0 {
			result.SuggestedHost = s.seeded.choose(result.SuggestedHost)
		}
		return result, err
	}
}

func (s *pausable) failureHandler(next scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
	return func(ctx context.Context, profile framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		next(ctx, profile, pod, status, nominating, start)
		if nominating != nil && nominating.NominatedNodeName != "" {
			s.podsChange(pod.Pod)
		}
		s.end(pod.Pod)
	}
}

// podsChange takes note that the pods on nodes change: one is bound, or some have to
// make room for these.
func (s *pausable) podsChange(preemptors ...*v1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed, s.preemptors = true, append(s.preemptors, preemptors...)
}

// end tells of an attempt that has ended. The pod is busy until that is done.
func (s *pausable) end(pod *v1.Pod) {
	s.mu.Lock()
	waited := s.busy[pod.UID].waited
	s.mu.Unlock()
	s.onAttempt(nameOf(pod), waited)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, pod.UID)
}

// state is what the scheduler is doing: whether it waits for a pod, how many attempts
// have begun, and which pods are busy.
func (s *pausable) state() (asking bool, begun int, busy []types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pod := range s.busy {
		busy = append(busy, pod.name)
	}
	return s.asking.Load(), s.begun, busy
}

func nameOf(pod *v1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

func (s *pausable) caches() informers.SharedInformerFactory {
	for _, profile := range s.Profiles {
		return profile.SharedInformerFactory()
	}
	return nil
}

// activate has waiting pods be tried now.
func (s *pausable) activate(pods []*v1.Pod) {
	for _, pod := range pods {
		s.SchedulingQueue.Activate(klog.Background(), map[string]*v1.Pod{pod.Name: pod})
	}
}

func (s *pausable) responsible(pod *v1.Pod) bool {
	_, ours := s.Profiles[pod.Spec.SchedulerName]
	return ours && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !podutil.IsPodTerminal(pod)
}

func (s *pausable) queued() map[types.UID]bool {
	queued := map[types.UID]bool{}
	waiting, _ := s.SchedulingQueue.PendingPods()
	for _, pod := range slices.Concat(waiting, s.SchedulingQueue.InFlightPods()) {
		queued[pod.UID] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid := range s.busy {
		queued[uid] = true
	}
	return queued
}
