package compare

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// steering is one scheduler that is held while things change, draws from our
// dice, and says what it is doing.
type steering struct {
	sched *scheduler.Scheduler
	dice  *dice
	tell  func(types.NamespacedName, time.Duration) // that an attempt for the pod has ended, and how long it was held

	mu     sync.Mutex
	open   chan struct{} // closed while pods may be scheduled
	asking bool          // the scheduler waits for a pod
	begun  int           // attempts
	busy   map[types.UID]types.NamespacedName

	waited  map[types.UID]time.Duration // how long attempts were held
	stirred bool                        // a pod was bound, or pushed others out
	pushing []*v1.Pod                   // those that did
}

// steer takes hold of a scheduler that does not run yet, and that the recorder is
// attached to. It schedules nothing until let go.
func steer(sched *scheduler.Scheduler, seed uint64, tell func(types.NamespacedName, time.Duration)) *steering {
	s := &steering{
		sched: sched, dice: newDice(seed, sched), tell: tell,
		open: make(chan struct{}), busy: map[types.UID]types.NamespacedName{}, waited: map[types.UID]time.Duration{},
	}
	for name, profile := range sched.Profiles {
		sched.Profiles[name] = &diced{profile, s}
	}
	sched.NextPod = s.nextPod(sched.NextPod)
	sched.SchedulePod = s.schedulePod(sched.SchedulePod)
	sched.FailureHandler = s.failureHandler(sched.FailureHandler)
	return s
}

// hold keeps the scheduler from beginning with another pod. At most one that
// comes first is taken from the queue.
func (s *steering) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.open:
		s.open = make(chan struct{})
	default:
	}
}

func (s *steering) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.open:
	default:
		close(s.open)
	}
}

func (s *steering) await() {
	s.mu.Lock()
	open := s.open
	s.mu.Unlock()
	select {
	case <-open:
	case <-s.sched.StopEverything:
	}
}

func (s *steering) nextPod(next func(klog.Logger) (*framework.QueuedPodInfo, error)) func(klog.Logger) (*framework.QueuedPodInfo, error) {
	return func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		s.await()
		s.setAsking(true)
		pod, err := next(logger)
		s.setAsking(false)
		s.await()
		return pod, err
	}
}

func (s *steering) setAsking(asking bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = asking
}

type schedulePod = func(context.Context, framework.Framework, fwk.CycleState, *framework.QueuedPodInfo) (scheduler.ScheduleResult, error)

func (s *steering) schedulePod(next schedulePod) schedulePod {
	return func(ctx context.Context, profile framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		name := nameOf(pod.Pod)
		s.mu.Lock()
		s.begun++
		s.busy[pod.Pod.UID] = name
		s.mu.Unlock()
		s.dice.begin(profile, name.String())
		result, err := next(ctx, profile, state, pod)
		if err == nil && len(s.sched.Extenders) > 0 {
			result.SuggestedHost = s.dice.chosen(result.SuggestedHost)
		}
		return result, err
	}
}

func (s *steering) failureHandler(next scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
	return func(ctx context.Context, profile framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		next(ctx, profile, pod, status, nominating, start)
		if nominating != nil && nominating.NominatedNodeName != "" {
			s.stir(pod.Pod)
		}
		s.ended(pod.Pod)
	}
}

// stir takes note that the pods on nodes change: by one that is bound, or by those
// that one pushes out.
func (s *steering) stir(pushing ...*v1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stirred, s.pushing = true, append(s.pushing, pushing...)
}

func (s *steering) held(pod types.UID, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waited[pod] = wait
}

func (s *steering) ended(pod *v1.Pod) {
	s.mu.Lock()
	waited := s.waited[pod.UID]
	delete(s.waited, pod.UID)
	s.mu.Unlock()
	s.tell(nameOf(pod), waited)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, pod.UID)
}

// state is what a scheduler is doing.
type state struct {
	asking bool
	begun  int
	busy   []types.NamespacedName // pods with a node that are not bound yet, or looked at just now
}

func (s *steering) state() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return state{s.asking, s.begun, slices.Collect(maps.Values(s.busy))}
}

func nameOf(pod *v1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// caches are the scheduler's own, or nil if it has no profile.
func (s *steering) caches() informers.SharedInformerFactory {
	for _, profile := range s.sched.Profiles {
		return profile.SharedInformerFactory()
	}
	return nil
}

// responsible is true of a pod that the scheduler is to find a node for.
func (s *steering) responsible(pod *v1.Pod) bool {
	_, ours := s.sched.Profiles[pod.Spec.SchedulerName]
	return ours && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !podutil.IsPodTerminal(pod)
}

// queued are the pods that wait in one of the queues, or are at work on.
func (s *steering) queued() map[types.UID]bool {
	queued := map[types.UID]bool{}
	waiting, _ := s.sched.SchedulingQueue.PendingPods()
	for _, pod := range slices.Concat(waiting, s.sched.SchedulingQueue.InFlightPods()) {
		queued[pod.UID] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid := range s.busy {
		queued[uid] = true
	}
	return queued
}
