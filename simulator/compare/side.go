package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kubernetes/pkg/scheduler"
	nodeutil "k8s.io/kubernetes/pkg/util/node"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// side is a cluster under one of the configurations.
type side struct {
	Side
	seed     uint64
	patience time.Duration
	say      func(step string, done, of int)
	warnings io.Writer

	sim     *simulator.Simulator
	imports *simulator.Importer
	removed sets.Set[types.NamespacedName] // pods, by the scenario

	mu      sync.Mutex
	current *steering
	seen    map[types.NamespacedName]seen
	changed time.Time // when the last pod came out otherwise than before
	ended   int       // attempts
	notices []snapshot.Notice
}

// seen is what the scheduler has made of a pod so far.
type seen struct {
	last    recorder.Attempt
	took    time.Duration     // all attempts together
	victims []string          // of preemption, in all attempts
	room    *recorder.Attempt // the first that pushed somebody out
}

// made is the attempt that made room, or else the last.
func (s seen) made() uint64 { return cmp.Or(s.room, &s.last).ID }

// start starts the cluster with what is there before anything is scheduled.
func (s *side) start(ctx context.Context, p *plan) (err error) {
	s.seen, s.removed = map[types.NamespacedName]seen{}, sets.New[types.NamespacedName]()
	s.say("starts a cluster", 0, 0)
	s.sim, err = simulator.Start(ctx, simulator.Config{
		SchedulerConfig: s.Config, Prepare: s.prepare, Warnings: s.warnings, NoWorkloads: true,
	})
	if err != nil {
		return err
	}
	objects, err := p.objects()
	if err != nil {
		return err
	}
	s.imports = s.sim.Importer()
	err = s.imports.Import(ctx, objects, func(done, of int) { s.say("brings the objects in", done, of) })
	if refused := (snapshot.NotImported)(nil); errors.As(err, &refused) {
		s.leftOut(refused...)
	} else if err != nil {
		return err
	}
	if err := s.nodesReady(ctx); err != nil {
		return err
	}
	// Another scheduler sees all of it at its start, before it is asked anything.
	return s.sim.ApplySchedulerConfig(ctx, s.Config)
}

// prepare takes hold of each scheduler.
func (s *side) prepare(sched *scheduler.Scheduler) {
	held := steer(sched, s.seed, s.attempted)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = held
}

func (s *side) scheduler() *steering {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// attempted takes note of an attempt that has ended, and that was held for a while.
// What it keeps of that the recorder may drop.
func (s *side) attempted(pod types.NamespacedName, held time.Duration) {
	attempts := s.sim.Recorder().Attempts(pod.Namespace, pod.Name)
	if len(attempts) == 0 {
		return // it was reset
	}
	last := attempts[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.seen[pod]
	s.ended++
	now := seen{last: last, took: before.took + last.Duration - held, victims: victims(attempts), room: before.room}
	if now.room == nil && last.Preemption != nil {
		now.room = &last
	}
	s.seen[pod] = now
	if before.last.Result != last.Result || before.last.Message != last.Message || before.last.UID != last.UID {
		s.changed = time.Now()
	}
}

// victims are the pods that were pushed out for a pod. They come one by one, and
// so are all there only when the pod is tried again.
func victims(attempts []recorder.Attempt) (all []string) {
	for _, attempt := range attempts {
		if attempt.Preemption != nil {
			all = append(all, attempt.Preemption.Victims...)
		}
	}
	return all
}

// victimsWithin bounds the wait for the news of the last pods that were pushed out.
const victimsWithin = 5 * time.Second

// learnVictims waits until it is known who pushed out each of the pods that are
// gone: of the last one preemption tells moments after it has gone.
func (s *side) learnVictims(ctx context.Context, p *plan) {
	_ = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, victimsWithin, true, func(context.Context) (bool, error) {
		gone := s.gone(p)
		s.mu.Lock()
		defer s.mu.Unlock()
		for name, one := range s.seen {
			if one.room == nil {
				continue
			}
			if now := victims(s.sim.Recorder().Attempts(name.Namespace, name.Name)); len(now) > len(one.victims) {
				one.victims = now
				s.seen[name] = one
			}
			for _, victim := range one.victims {
				delete(gone, keyOf(victim))
			}
		}
		return len(gone) == 0, nil
	})
}

// gone are the pods that had a node that is there, and were not deleted by the
// scenario.
func (s *side) gone(p *plan) map[types.NamespacedName]string {
	had := p.given()
	for name, one := range s.outcomes() {
		if one.last.Result == recorder.Scheduled {
			had[name] = one.last.Node
		}
	}
	core := s.sim.Informers().Core().V1()
	maps.DeleteFunc(had, func(name types.NamespacedName, node string) bool {
		_, noPod := core.Pods().Lister().Pods(name.Namespace).Get(name.Name)
		_, noNode := core.Nodes().Lister().Get(node)
		return noPod == nil || noNode != nil || s.removed.Has(name)
	})
	return had
}

// outcomes are what became of the pods so far.
func (s *side) outcomes() map[types.NamespacedName]seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.seen)
}

func (s *side) of(pod types.NamespacedName) (seen, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.seen[pod]
	return one, ok
}

// nodesReady waits until every node says how much room it has.
func (s *side) nodesReady(ctx context.Context) error {
	return s.until(ctx, 50*time.Millisecond, func() error {
		nodes, err := s.sim.Informers().Core().V1().Nodes().Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		for _, node := range nodes {
			if len(node.Status.Allocatable) == 0 || !nodeutil.IsNodeReady(node) {
				return fmt.Errorf("node %s is not ready", node.Name)
			}
		}
		return nil
	})
}

// until looks again and again, until nothing is missing. Its patience is with the
// scheduler: as long as pods come out otherwise than before, it waits.
func (s *side) until(ctx context.Context, every time.Duration, missing func() error) error {
	began := time.Now()
	var last error
	err := wait.PollUntilContextCancel(ctx, every, true, func(context.Context) (bool, error) {
		if s.sim.Err() != nil {
			return false, s.sim.Err()
		}
		if last = missing(); last == nil {
			return true, nil
		}
		s.mu.Lock()
		quiet := min(time.Since(began), time.Since(s.changed))
		s.mu.Unlock()
		if quiet > s.patience {
			return false, fmt.Errorf("nothing new for %s: %w", s.patience, last)
		}
		return false, nil
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// run takes the cluster through the steps, and to rest after each.
func (s *side) run(ctx context.Context, p *plan) error {
	for i, step := range p.steps {
		s.scheduler().hold()
		if i > 0 {
			s.say(step.name, i, len(p.steps)-1)
		}
		if err := step.do(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		if err := s.rest(ctx); err != nil {
			return fmt.Errorf("%s: the scheduler does not come to rest: %w", step.name, err)
		}
	}
	return nil
}

// leftOut keeps what the API server has refused.
func (s *side) leftOut(notices ...snapshot.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, notices...)
}

// enqueue makes pods, one after the other, so that they are queued in this order.
func (s *side) enqueue(ctx context.Context, pods []v1.Pod) error {
	for i := range pods {
		err := s.imports.Pod(ctx, pods[i])
		if refused := snapshot.NotImported(nil); errors.As(err, &refused) {
			s.leftOut(refused...)
		} else if err != nil {
			return err
		}
		s.say("queues the pods", i+1, len(pods))
	}
	return nil
}

// pods are those that are there, by name.
func (s *side) pods(ctx context.Context) (map[types.NamespacedName]*v1.Pod, error) {
	list, err := s.sim.Client().CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods := make(map[types.NamespacedName]*v1.Pod, len(list.Items))
	for i := range list.Items {
		pods[nameOf(&list.Items[i])] = &list.Items[i]
	}
	return pods, nil
}

func (s *side) nodes(ctx context.Context) ([]v1.Node, error) {
	list, err := s.sim.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func (s *side) stop() error {
	if s.sim == nil {
		return nil
	}
	return s.sim.Stop()
}
