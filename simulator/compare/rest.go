package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
)

// A scheduler is at rest when it was on two looks, with no attempt between them:
// a pod that is just taken from the queue is nowhere for a moment.
const betweenLooks = 150 * time.Millisecond

// circles is how many attempts with the same end show that a pod goes round in
// circles: it will be tried for ever, and nothing changes by it.
const circles = 3

// rest lets the scheduler go, once it has seen everything that is there, and waits
// until it has done what it can.
func (s *side) rest(ctx context.Context) error {
	if err := s.caughtUp(ctx); err != nil {
		return err
	}
	held := s.scheduler()
	held.letGo()
	before := -1
	return s.until(ctx, betweenLooks, func() error {
		if err := s.working(held); err != nil {
			before = -1
			return err
		}
		begun := held.state().begun
		if begun != before {
			before = begun
			return errors.New("the scheduler has only just stopped")
		}
		return nil
	})
}

// working says what the scheduler, or somebody it waits for, is still at.
func (s *side) working(held *steering) error {
	now, queue := held.state(), held.sched.SchedulingQueue
	s.progress()
	switch again := slices.DeleteFunc(slices.Concat(queue.PodsInActiveQ(), queue.PodsInBackoffQ()), s.circling); {
	case !now.asking && !s.onlyCircling(now):
		return fmt.Errorf("it works on %v", now.busy)
	case len(now.busy) > 0 && !s.onlyCircling(now):
		return fmt.Errorf("%d pods are bound right now: %v", len(now.busy), few(now.busy))
	case len(again) > 0:
		return fmt.Errorf("%d pods are tried again: %v", len(again), few(names(again)))
	}
	if ending := s.ending(); len(ending) > 0 {
		return fmt.Errorf("%d pods are being deleted: %v", len(ending), few(ending))
	}
	if waiting := s.nominated(); len(waiting) > 0 {
		return fmt.Errorf("%d pods wait for those that they push out: %v", len(waiting), few(waiting))
	}
	return nil
}

// progress says how many pods have been looked at.
func (s *side) progress() {
	s.mu.Lock()
	done := len(s.seen)
	s.mu.Unlock()
	pods, err := s.sim.Informers().Core().V1().Pods().Lister().List(labels.Everything())
	if err == nil {
		left := len(slices.DeleteFunc(pods, func(pod *v1.Pod) bool {
			_, looked := s.of(nameOf(pod))
			return pod.Spec.NodeName != "" || looked
		}))
		s.say(Schedules, done, done+left)
	}
}

// circling is true of a pod whose attempts all end alike.
func (s *side) circling(pod *v1.Pod) bool {
	attempts := s.sim.Recorder().Attempts(pod.Namespace, pod.Name)
	attempts = slices.DeleteFunc(attempts, func(a recorder.Attempt) bool { return a.Result == recorder.Pending })
	if len(attempts) < circles {
		return false
	}
	for _, attempt := range attempts[:circles] {
		if attempt.Result != recorder.Failed || attempt.Message != attempts[0].Message {
			return false
		}
	}
	return true
}

func (s *side) onlyCircling(now state) bool {
	return len(now.busy) > 0 && !slices.ContainsFunc(now.busy, func(name types.NamespacedName) bool {
		return !s.circling(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}})
	})
}

// ending are the pods that are being deleted.
func (s *side) ending() []types.NamespacedName {
	pods, err := s.sim.Informers().Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		return nil // a cache's lister has no errors
	}
	return names(slices.DeleteFunc(pods, func(pod *v1.Pod) bool { return pod.DeletionTimestamp == nil }))
}

// nominated are the pods for which room was made, and which have not been tried
// again since.
func (s *side) nominated() []types.NamespacedName {
	var waiting []types.NamespacedName
	for name, one := range s.outcomes() {
		if one.last.Preemption != nil && one.last.Result != recorder.Scheduled && s.exists(name, one.last.UID) {
			waiting = append(waiting, name)
		}
	}
	return waiting
}

func (s *side) exists(name types.NamespacedName, uid string) bool {
	pod, err := s.sim.Informers().Core().V1().Pods().Lister().Pods(name.Namespace).Get(name.Name)
	return err == nil && string(pod.UID) == uid
}

func names(pods []*v1.Pod) []types.NamespacedName {
	all := make([]types.NamespacedName, len(pods))
	for i, pod := range pods {
		all[i] = nameOf(pod)
	}
	return all
}

// few are enough to look for what is wrong.
func few(names []types.NamespacedName) []types.NamespacedName { return names[:min(3, len(names))] }

// caughtUp waits until the scheduler knows of the nodes and pods that the API
// server has, and how many of each budget may go, and has queued the pods that are
// its to schedule.
func (s *side) caughtUp(ctx context.Context) error {
	core := s.sim.Client().CoreV1()
	nodes, err := core.Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := core.Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	held := s.scheduler()
	return s.until(ctx, 20*time.Millisecond, func() error {
		caches := held.caches()
		if caches == nil {
			return nil // without a profile nothing is scheduled
		}
		cached := caches.Core().V1()
		for i := range nodes.Items {
			node := &nodes.Items[i]
			if known, err := cached.Nodes().Lister().Get(node.Name); err != nil || older(known, node) {
				return fmt.Errorf("the scheduler has not seen node %s yet", node.Name)
			}
		}
		if known, err := cached.Nodes().Lister().List(labels.Everything()); err != nil || len(known) > len(nodes.Items) {
			return errors.New("the scheduler still sees nodes that are gone")
		}
		if known, err := cached.Pods().Lister().List(labels.Everything()); err != nil || len(known) > len(pods.Items) {
			return errors.New("the scheduler still sees pods that are gone")
		}
		queued := held.queued()
		for i := range pods.Items {
			pod := &pods.Items[i]
			known, err := cached.Pods().Lister().Pods(pod.Namespace).Get(pod.Name)
			if pod.DeletionTimestamp == nil && (err != nil || older(known, pod)) {
				return fmt.Errorf("the scheduler has not seen pod %s yet", nameOf(pod))
			}
			if err == nil && held.responsible(known) && !queued[known.UID] {
				return fmt.Errorf("pod %s is not queued yet", nameOf(pod))
			}
		}
		return uncounted(caches)
	})
}

// older is true if what is known of an object is older than what was asked for.
func older(known, wanted metav1.Object) bool {
	if known.GetUID() != wanted.GetUID() {
		return true
	}
	k, errKnown := strconv.ParseUint(known.GetResourceVersion(), 10, 64)
	w, errWanted := strconv.ParseUint(wanted.GetResourceVersion(), 10, 64)
	return errKnown == nil && errWanted == nil && k < w
}
