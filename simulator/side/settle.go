package side

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"

	"wasmkwokwizardry.io/regex-scheduling/recorder"
)

// betweenLooks is how long the scheduler has to be idle: a pod that is just taken from
// the queue is nowhere for a moment.
const betweenLooks = 150 * time.Millisecond

// circles is how many attempts with the same end show that a pod goes round in
// circles: it will be tried for ever, and nothing changes by it.
const circles = 3

// missedAfter is how long nothing new happens before pods with a nomination are tried again.
// The scheduler itself does so after minutes, if what it was to push out had just gone.
const missedAfter = time.Second

// settleAfter changes something while the scheduler is paused, resumes it once it has
// seen everything that is there, and waits until it has done what it can.
func (s *side) settleAfter(ctx context.Context, step string, change func(context.Context) error) error {
	s.scheduler.pause()
	if err := change(ctx); err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	err := s.caughtUp(ctx)
	if err == nil {
		s.mu.Lock()
		s.changed = time.Now()
		s.mu.Unlock()
		s.scheduler.resume()
		err = s.idle(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: the scheduler does not come to rest: %w", step, err)
	}
	return nil
}

// idle waits until the scheduler has nothing to do on two looks, with no attempt
// between them.
func (s *side) idle(ctx context.Context) error {
	before := -1
	return s.until(ctx, betweenLooks, func() error {
		s.reportProgress()
		begun, err := s.working()
		switch {
		case err != nil:
			before = -1
		case begun != before:
			before, err = begun, errors.New("the scheduler has only just stopped")
		}
		return err
	})
}

// until looks again and again, until nothing is missing. Its patience is with the
// scheduler: as long as attempts end otherwise than before, it waits.
func (s *side) until(ctx context.Context, every time.Duration, missing func() error) error {
	began := time.Now()
	err := wait.PollUntilContextCancel(ctx, every, true, func(context.Context) (bool, error) {
		if s.sim.Err() != nil {
			return false, s.sim.Err()
		}
		last := missing()
		if last != nil && min(time.Since(began), s.quiet()) > s.options.Patience {
			return false, fmt.Errorf("nothing new for %s: %w", s.options.Patience, last)
		}
		return last == nil, nil
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// quiet is how long nothing new has happened.
func (s *side) quiet() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.changed)
}

// working is how many attempts have begun, and what the scheduler, or somebody it
// waits for, is still at.
func (s *side) working() (begun int, err error) {
	asking, begun, all := s.scheduler.state()
	busy := slices.DeleteFunc(slices.Clone(all), s.circling)
	if !asking && (len(busy) > 0 || len(all) == 0) {
		return begun, fmt.Errorf("it works on %v", all)
	}
	queue := s.scheduler.SchedulingQueue
	retried := names(slices.Concat(queue.PodsInActiveQ(), queue.PodsInBackoffQ()))
	ending, nominated := s.ending(), s.nominated()
	if len(retried)+len(ending) == 0 && s.quiet() > missedAfter {
		s.scheduler.activate(nominated)
	}
	for _, one := range []struct {
		pods []types.NamespacedName
		do   string
	}{
		{busy, "are bound right now"},
		{slices.DeleteFunc(retried, s.circling), "are tried again"},
		{names(ending), "are being deleted"},
		{names(nominated), "wait for those that they push out"},
	} {
		if few := one.pods[:min(3, len(one.pods))]; len(few) > 0 {
			return begun, fmt.Errorf("%d pods %s: %v", len(one.pods), one.do, few)
		}
	}
	return begun, nil
}

func (s *side) reportProgress() {
	tried := s.outcomes()
	left := 0
	for _, pod := range s.cached() {
		if _, was := tried[nameOf(pod)]; !was && pod.Spec.NodeName == "" {
			left++
		}
	}
	s.options.Progress(Schedules, len(tried), len(tried)+left)
}

func (s *side) circling(pod types.NamespacedName) bool {
	attempts := s.sim.Recorder().Attempts(pod.Namespace, pod.Name)
	attempts = slices.DeleteFunc(attempts, func(a recorder.Attempt) bool { return a.Result == recorder.Pending })
	if len(attempts) > 0 && attempts[0].PodGroup.Note() != "" { // it is tried for ever, whether or not anything changes
		s.mu.Lock()
		defer s.mu.Unlock()
		return attempts[0].Time.After(s.changed)
	}
	return len(attempts) >= circles && !slices.ContainsFunc(attempts[:circles], func(a recorder.Attempt) bool {
		return a.Result != recorder.Failed || a.Message != attempts[0].Message
	})
}

// cached are the pods by the simulator's cache, whose lister has no errors.
func (s *side) cached() []*v1.Pod {
	pods, _ := s.sim.Informers().Core().V1().Pods().Lister().List(labels.Everything())
	return pods
}

func (s *side) ending() []*v1.Pod {
	return slices.DeleteFunc(s.cached(), func(pod *v1.Pod) bool { return pod.DeletionTimestamp == nil })
}

// nominated are the pods for which room was made, and which have not been tried
// again since.
func (s *side) nominated() (waiting []*v1.Pod) {
	for name, one := range s.outcomes() {
		if one.last.Preemption == nil || one.last.Result == recorder.Scheduled {
			continue
		}
		pod, err := s.sim.Informers().Core().V1().Pods().Lister().Pods(name.Namespace).Get(name.Name)
		if err == nil && string(pod.UID) == one.last.UID {
			waiting = append(waiting, pod)
		}
	}
	return waiting
}

func names(pods []*v1.Pod) []types.NamespacedName {
	all := make([]types.NamespacedName, len(pods))
	for i, pod := range pods {
		all[i] = nameOf(pod)
	}
	return all
}

// caughtUp waits until the scheduler knows of the nodes and pods that the API
// server has, and how many of each budget may go, and has queued the pods that are
// its to schedule.
func (s *side) caughtUp(ctx context.Context) error {
	nodes, pods, err := s.list(ctx)
	if err != nil {
		return err
	}
	if err := s.seen(ctx, nodes, pods); err != nil {
		return err
	}
	return s.seenClaims(ctx)
}

// seenClaims waits until the scheduler knows which devices claims have, if it looks at claims.
func (s *side) seenClaims(ctx context.Context) error {
	return s.until(ctx, 20*time.Millisecond, func() error {
		caches := s.scheduler.caches()
		if caches == nil || !caches.Resource().V1().ResourceClaims().Informer().HasSynced() {
			return nil
		}
		claims, err := s.sim.Client().ResourceV1().ResourceClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range claims.Items {
			claim := &claims.Items[i]
			known, err := caches.Resource().V1().ResourceClaims().Lister().ResourceClaims(claim.Namespace).Get(claim.Name)
			if err != nil || older(known, claim) {
				return fmt.Errorf("the scheduler has not seen resource claim %s/%s yet", claim.Namespace, claim.Name)
			}
		}
		return nil
	})
}

// seen waits until the scheduler has caught up with what a list has. What it has seen once
// is not looked at again.
func (s *side) seen(ctx context.Context, nodes []v1.Node, pods []v1.Pod) error {
	seenNodes, seenPods, counted := 0, 0, sets.New[types.NamespacedName]()
	return s.until(ctx, 20*time.Millisecond, func() error {
		caches := s.scheduler.caches()
		if caches == nil {
			return nil // without a profile nothing is scheduled
		}
		cached := caches.Core().V1()
		if known, err := cached.Nodes().Lister().List(labels.Everything()); err != nil || len(known) > len(nodes) {
			return errors.New("the scheduler still sees nodes that are gone")
		}
		if known, err := cached.Pods().Lister().List(labels.Everything()); err != nil || len(known) > len(pods) {
			return errors.New("the scheduler still sees pods that are gone")
		}
		for ; seenNodes < len(nodes); seenNodes++ {
			node := &nodes[seenNodes]
			if known, err := cached.Nodes().Lister().Get(node.Name); err != nil || older(known, node) {
				return fmt.Errorf("the scheduler has not seen node %s yet", node.Name)
			}
		}
		queued := s.scheduler.queued()
		for ; seenPods < len(pods); seenPods++ {
			pod := &pods[seenPods]
			known, err := cached.Pods().Lister().Pods(pod.Namespace).Get(pod.Name)
			if pod.DeletionTimestamp == nil && (err != nil || older(known, pod)) {
				return fmt.Errorf("the scheduler has not seen pod %s yet", nameOf(pod))
			}
			if err == nil && s.scheduler.responsible(known) && !queued[known.UID] {
				return fmt.Errorf("pod %s is not queued yet", nameOf(pod))
			}
		}
		return uncounted(caches, counted)
	})
}

// older is true if what is known of an object is older than what was asked for.
func older(known, wanted metav1.Object) bool {
	order, err := resourceversion.CompareResourceVersion(known.GetResourceVersion(), wanted.GetResourceVersion())
	return known.GetUID() != wanted.GetUID() || err == nil && order < 0
}
