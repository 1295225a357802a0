// Package side runs one side of a comparison: it puts objects into a
// simulator, has the scheduler place pods, pauses it for each change of a [Scenario], and
// tells what became of every pod in a [Result].
//
// Where kube-scheduler leaves something to chance, a seed decides. What is at work in the
// cluster is waited for, not for a time.
//
// [Run] does so in this process, and a [Process] in one of its own, by the command that
// [NewCommand] makes. It is no API. Package compare judges two results.
package side

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
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	nodeutil "k8s.io/kubernetes/pkg/util/node"

	"wasmkwokwizardry.io/regex-scheduling/recorder"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
)

// Options say what a side does. They are sent to a process of its own as JSON, but for
// what only this one has.
type Options struct {
	Name       string             // of the configuration, in the result
	Config     []byte             // the KubeSchedulerConfiguration
	Cluster    *snapshot.Snapshot `json:"-"` // what there is. It is used up
	Pods       string             // one of Modes
	Schedulers []string           // whose pods All schedules anew
	Scenario   Scenario
	Seed       uint64
	PodGroups  bool // they are served, though the cluster has none
	// Patience bounds how long nothing new may happen while something is under way.
	// Zero is DefaultPatience.
	Patience time.Duration

	Plugins  frameworkruntime.Registry       `json:"-"` // further ones of this program, by name
	Task     map[string]string               `json:"-"` // as in Result
	Progress func(step string, done, of int) `json:"-"` // is told how far it is. It may not be nil
	Warnings io.Writer                       `json:"-"` // gets a line for each thing that a person should know. It may be nil
}

// DefaultPatience is longer than anything takes that the scheduler waits for.
const DefaultPatience = 2 * time.Minute

// Run starts a cluster in this process, has it schedule, and ends it.
func Run(ctx context.Context, o Options) (*Result, error) {
	began := time.Now()
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	s := &side{options: &o, plan: newPlan(&o), removed: sets.New[types.NamespacedName](), tried: map[types.NamespacedName]tried{}}
	s.pods = s.plan.pods
	result, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	result.Took = time.Since(began)
	return result, nil
}

type side struct {
	options *Options
	plan    *plan

	sim     *simulator.Simulator
	imports *simulator.Importer
	removed sets.Set[types.NamespacedName] // pods, by the scenario
	notices []snapshot.Notice              // what the API server has refused

	pods map[types.NamespacedName]*Pod // all that there were

	scheduler *pausable // the one that runs

	mu      sync.Mutex
	tried   map[types.NamespacedName]tried
	changed time.Time // when an attempt last ended otherwise than the one before it, or a step was done
}

// tried is what came of the attempts for a pod so far.
type tried struct {
	last    recorder.Attempt
	took    time.Duration     // all attempts together
	victims []string          // of preemption, in all attempts
	room    *recorder.Attempt // the first that pushed somebody out
}

// run starts a cluster, takes it through the steps, and ends it.
func (s *side) run(ctx context.Context) (result *Result, err error) {
	defer func() {
		if s.sim != nil {
			err = errors.Join(err, s.sim.Stop())
		}
	}()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	if err := s.settleAfter(ctx, "the pods of the file", s.enqueue); err != nil {
		return nil, err
	}
	for i := range s.plan.steps {
		step := &s.plan.steps[i]
		s.options.Progress(step.title(i), i+1, len(s.plan.steps))
		if err := s.settleAfter(ctx, step.title(i), func(ctx context.Context) error { return s.do(ctx, step) }); err != nil {
			return nil, err
		}
	}
	if result, _, _, err = s.result(ctx); err == nil {
		result.Setups, err = newSetups(s.options.Config, s.scheduler.Profiles)
	}
	return result, err
}

// result is what came of the pods so far, with the lists that it is from.
func (s *side) result(ctx context.Context) (*Result, []v1.Node, []v1.Pod, error) {
	s.awaitVictims(ctx)
	nodes, pods, err := s.list(ctx)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read what came of it: %w", err)
	}
	return newResult(s, nodes, pods), nodes, pods, nil
}

func (s *side) start(ctx context.Context) (err error) {
	s.options.Progress("starts a cluster", 0, 0)
	s.sim, err = simulator.Start(ctx, simulator.Config{
		SchedulerConfig: s.options.Config, Plugins: s.options.Plugins, Warnings: s.options.Warnings, NoWorkloads: true,
		PodGroups: s.options.PodGroups || len(s.plan.cluster.PodGroups) > 0,
		Prepare:   func(next *scheduler.Scheduler) { s.scheduler = newPausable(next, s.options.Seed, s.attempted) },
	})
	if err != nil {
		return err
	}
	s.imports = s.sim.Importer()
	err = s.leftOut(s.imports.Import(ctx, s.plan.cluster, func(done, of int) { s.options.Progress("brings the objects in", done, of) }))
	if err != nil {
		return err
	}
	s.plan.cluster = nil
	if err := s.until(ctx, 50*time.Millisecond, s.nodesReady); err != nil {
		return err
	}
	// Another scheduler sees all of it at its start, before it is asked anything.
	return s.sim.ApplySchedulerConfig(ctx, s.options.Config)
}

// leftOut keeps what the API server has refused, which is no error.
func (s *side) leftOut(err error) error {
	if refused := (snapshot.NotImported)(nil); errors.As(err, &refused) {
		s.notices = append(s.notices, refused...)
		return nil
	}
	return err
}

func (s *side) nodesReady() error {
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
}

// enqueue makes pods, one after the other, so that they are queued in this order.
func (s *side) enqueue(ctx context.Context) error {
	for i, pod := range s.plan.queue {
		if err := s.leftOut(s.imports.Pod(ctx, pod)); err != nil {
			return err
		}
		s.options.Progress("queues the pods", i+1, len(s.plan.queue))
	}
	return nil
}

// attempted takes note of an attempt that has ended, and that waited for a while.
// The recorder may forget it.
func (s *side) attempted(pod types.NamespacedName, waited time.Duration) {
	attempts := s.sim.Recorder().Attempts(pod.Namespace, pod.Name)
	if len(attempts) == 0 {
		return // it was reset
	}
	last := attempts[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.tried[pod]
	now := tried{last: last, took: before.took + last.Duration - waited, victims: victims(attempts), room: before.room}
	for i := len(attempts) - 1; i >= 0 && now.room == nil; i-- {
		if attempts[i].Preemption != nil {
			now.room = &attempts[i]
		}
	}
	s.tried[pod] = now
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

func (s *side) outcomes() map[types.NamespacedName]tried {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.tried)
}

// victimsWithin bounds the wait for the news of the last pods that were pushed out.
const victimsWithin = 5 * time.Second

// awaitVictims waits until it is known who pushed out each of the pods that are
// gone: the scheduler says so of the last one moments after it has gone.
func (s *side) awaitVictims(ctx context.Context) {
	_ = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, victimsWithin, true, func(context.Context) (bool, error) {
		gone := s.gone()
		s.mu.Lock()
		defer s.mu.Unlock()
		for name, one := range s.tried {
			if one.room == nil && one.last.PodGroup == nil {
				continue
			}
			if now := victims(s.sim.Recorder().Attempts(name.Namespace, name.Name)); len(now) > len(one.victims) {
				one.victims = now
				s.tried[name] = one
			}
			for _, victim := range one.victims {
				gone.Delete(KeyOf(victim))
			}
		}
		return len(gone) == 0, nil
	})
}

// gone are the pods that had a node that is there, and were not deleted by the
// scenario.
func (s *side) gone() sets.Set[types.NamespacedName] {
	had := map[types.NamespacedName]string{}
	for name, pod := range s.pods {
		if pod.Stays && pod.Today != "" {
			had[name] = pod.Today
		}
	}
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
	return sets.KeySet(had)
}

// see takes note of pods as they are, with what the API server has filled in.
func (s *side) see(pods []v1.Pod) {
	for i := range pods {
		now := s.plan.newPod(&pods[i])
		if before := s.pods[nameOf(&pods[i])]; before != nil {
			now.Today, now.Stays = before.Today, before.Stays
			now.Owner = cmp.Or(before.Owner, now.Owner) // a reference to what is not there was dropped
		}
		s.pods[nameOf(&pods[i])] = now
	}
}

// list takes note of the pods, too.
func (s *side) list(ctx context.Context) ([]v1.Node, []v1.Pod, error) {
	nodes, err := s.sim.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	pods, err := s.sim.Client().CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	s.see(pods.Items)
	return nodes.Items, pods.Items, nil
}
