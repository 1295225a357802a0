// Package side runs one side of a comparison: it has a scheduler place pods in a cluster in
// memory, makes the changes of a [Scenario] step by step, and says in a [Result] what became
// of every pod. Package compare judges two results.
//
// It is no API.
package side

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/recorder"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/whatif/engine"
)

// Schedules is the step in which the scheduler is at work.
const Schedules = "schedules"

// Options say what a side does.
type Options struct {
	engine.Options          // its Recorder is the side's own
	Name           string   // of the configuration, in the result
	Text           []byte   // the configuration as somebody has typed it
	Pods           string   // one of Modes
	Schedulers     []string // whose pods All schedules anew
	Scenario       Scenario
	Task           map[string]string               // as in Result
	Progress       func(step string, done, of int) // is told how far it is. It may be nil
}

// Side is a scheduler and its cluster. Use it from one goroutine.
type Side struct {
	*engine.Engine
	options *Options
	records *recorder.Recorder
	nodes   sets.Set[string]                // those of the file
	queue   []*v1.Pod                       // what is scheduled first, in this order
	pods    map[types.NamespacedName]*Pod   // all that there were
	tried   map[types.NamespacedName]*tried // those that the scheduler was asked for
	refused []snapshot.Notice
}

// tried is what came of the attempts for a pod so far. The recorder may forget it.
type tried struct {
	last    recorder.Attempt
	took    time.Duration     // all attempts together
	victims []string          // of preemption, in all attempts
	room    *recorder.Attempt // the first that preempted somebody
}

// New makes a scheduler over a cluster. Errors are those of [engine.New].
func New(ctx context.Context, o Options) (*Side, error) {
	s := &Side{
		options: &o, records: recorder.New(func() {}).WithoutRaw(), nodes: sets.New[string](),
		pods: map[types.NamespacedName]*Pod{}, tried: map[types.NamespacedName]*tried{},
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	o.Recorder = s.records
	var err error
	if s.Engine, err = engine.New(ctx, o.Options); err != nil {
		return nil, err
	}
	o.Cluster = nil
	s.OnAttempt = s.attempted
	s.plan()
	return s, nil
}

// plan takes note of what is in the file.
func (s *Side) plan() {
	for _, node := range cluster.All[*v1.Node](s.Cluster) {
		s.nodes.Insert(node.Name)
	}
	s.see()
	ours := sets.New(s.options.Schedulers...)
	for _, pod := range cluster.All[*v1.Pod](s.Cluster) {
		is := s.pods[nameOf(pod)]
		if is.Today = pod.Spec.NodeName; Queued(pod, s.options.Pods, ours) {
			s.queue = append(s.queue, pod)
		} else {
			is.Stays = true
		}
	}
	slices.SortStableFunc(s.queue, func(a, b *v1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// see takes note of the pods as they are.
func (s *Side) see() {
	for _, pod := range cluster.All[*v1.Pod](s.Cluster) {
		now := s.newPod(pod)
		if before := s.pods[nameOf(pod)]; before != nil {
			now.Today, now.Stays = before.Today, before.Stays
		}
		s.pods[nameOf(pod)] = now
	}
}

// Run schedules, makes the changes, and says what came of it. Call it once.
func (s *Side) Run(ctx context.Context) (*Result, error) {
	began := time.Now()
	if s.options.Pods == All {
		if err := s.recreate(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.Engine.Run(ctx); err != nil {
		return nil, err
	}
	for i := range s.options.Scenario.Steps {
		step := &s.options.Scenario.Steps[i]
		s.options.Progress(step.title(i), i+1, len(s.options.Scenario.Steps))
		if err := step.do(ctx, s.Cluster); err != nil {
			return nil, fmt.Errorf("%s: %w", step.title(i), err)
		}
		s.see()
		if err := s.Engine.Run(ctx); err != nil {
			return nil, err
		}
	}
	return s.result(time.Since(began))
}

// recreate takes the pods of the queue from their nodes, and queues them again in their order.
func (s *Side) recreate(ctx context.Context) error {
	for _, pod := range s.queue {
		s.Delete(pod)
		s.Forget(nameOf(pod))
	}
	for _, pod := range s.queue {
		_, err := s.Create(ctx, s.Recreated(pod))
		if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
			s.refused = append(s.refused, snapshot.Notice{About: "pod " + nameOf(pod).String(), Reason: err.Error()})
		} else if err != nil {
			return fmt.Errorf("recreate pod %s: %w", nameOf(pod), err)
		}
	}
	return nil
}

// attempted takes note of an attempt that has ended.
func (s *Side) attempted(pod types.NamespacedName) {
	attempts := s.records.Attempts(pod.Namespace, pod.Name)
	if len(attempts) == 0 {
		return
	}
	now := s.tried[pod]
	if now == nil {
		now = &tried{}
		s.tried[pod] = now
		s.options.Progress(Schedules, len(s.tried), max(len(s.tried), len(s.queue)))
	}
	now.last = attempts[0]
	now.took += now.last.Duration
	now.preempted(attempts)
}

// preempted takes note of whom attempts have preempted, the newest of which comes first.
func (t *tried) preempted(attempts []recorder.Attempt) {
	t.victims = nil
	for i := range slices.Backward(attempts) {
		if preemption := attempts[i].Preemption; preemption != nil {
			t.room = cmp.Or(t.room, &attempts[i])
			t.victims = append(t.victims, preemption.Victims...)
		}
	}
}

func nameOf(pod *v1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}
