// Package side runs one side of a comparison: it has a scheduler place pods in a cluster in
// memory, makes the changes of a [Scenario] step by step, and returns a [Result] with the outcome
// of every pod. Package compare judges two results.
package side

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// Schedules is the step in which the scheduler is at work.
const Schedules = "schedules"

// Options say what a side does.
type Options struct {
	engine.Options          // its Recorder is the side's own
	Name           string   // of the configuration, in the result
	Text           []byte   // the configuration as it is written in its file
	Pods           string   // one of Modes
	Schedulers     []string // whose pods All reschedules
	Scenario       Scenario
	Task           map[string]string               // as in Result
	Progress       func(step string, done, of int) // gets how far it is. It may be nil
}

// Side is a scheduler and its cluster. Use it from one goroutine.
type Side struct {
	engine  *engine.Engine
	options *Options
	records *recorder.Recorder
	nodes   sets.Set[string]                // of the file
	queue   []*v1.Pod                       // what is scheduled first, in this order
	queued  int                             // how many pods the queue had
	pods    map[types.NamespacedName]*Pod   // all that there were
	tried   map[types.NamespacedName]*tried // pods that the scheduler was asked for
	refused []snapshot.Notice
	columns []recorder.Column // of the last attempt, for the next one with equal columns
	scored  []recorder.ScoreColumn
}

// keptBytes bounds the attempts that a side's recorder keeps: the side itself keeps the last
// attempt for each pod, and attempts that preempted others.
const keptBytes = 16 << 20

// tried is the result of the attempts for a pod so far.
type tried struct {
	last     recorder.Attempt
	attempts int
	rooms    []recorder.Attempt // that preempted others, the oldest first
}

// New makes a scheduler over a cluster. It returns the errors of [engine.New].
func New(ctx context.Context, o Options) (*Side, error) {
	s := &Side{
		options: &o, records: recorder.New(func() {}), nodes: sets.New[string](),
		pods: map[types.NamespacedName]*Pod{}, tried: map[types.NamespacedName]*tried{},
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	s.records.MaxBytes = keptBytes
	s.records.WithoutRaw = true
	o.Recorder = s.records
	if o.Scenario.AddsNodes() {
		o.Workloads = engine.Daemons
	}
	var err error
	if s.engine, err = engine.New(ctx, o.Options); err != nil {
		return nil, err
	}
	o.Cluster = nil
	s.engine.Scheduler.OnAttempt = s.attempted
	s.plan()
	return s, nil
}

// Close ends the scheduler.
func (s *Side) Close() { s.engine.Close() }

// plan takes note of what is in the file.
func (s *Side) plan() {
	for _, node := range cluster.All[*v1.Node](s.engine.Cluster) {
		s.nodes.Insert(node.Name)
	}
	s.see()
	ours := sets.New(s.options.Schedulers...)
	for _, pod := range cluster.All[*v1.Pod](s.engine.Cluster) {
		is := s.pods[cluster.NameOf(pod)]
		is.Today = pod.Spec.NodeName
		if queued(pod, s.options.Pods, ours) {
			s.queue = append(s.queue, pod)
		}
	}
	s.queued = len(s.queue)
	slices.SortStableFunc(s.queue, cluster.ByAge)
}

// see takes note of the pods as they are.
func (s *Side) see() {
	for _, pod := range cluster.All[*v1.Pod](s.engine.Cluster) {
		now := s.newPod(pod)
		before := s.pods[cluster.NameOf(pod)]
		if before != nil {
			now.Today = before.Today
		}
		s.pods[cluster.NameOf(pod)] = now
	}
}

// Run schedules, makes the changes, and returns the result. Call it once.
func (s *Side) Run(ctx context.Context) (*Result, error) {
	if s.options.Pods == All {
		if err := s.recreate(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.engine.Run(ctx); err != nil {
		return nil, err
	}
	for i := range s.options.Scenario.Steps {
		step := &s.options.Scenario.Steps[i]
		s.options.Progress(step.title(i), i+1, len(s.options.Scenario.Steps))
		if err := step.do(ctx, s.engine.Cluster, s.reject); err != nil {
			return nil, fmt.Errorf("%s: %w", step.title(i), err)
		}
		s.see()
		if err := s.engine.Run(ctx); err != nil {
			return nil, err
		}
	}
	return s.result()
}

// recreate takes the pods of the queue from their nodes, and queues them again in their order.
func (s *Side) recreate(ctx context.Context) error {
	for _, pod := range s.queue {
		s.engine.Cluster.Remove(pod)
	}
	for i, pod := range s.queue {
		s.queue[i] = nil // it is not needed any more
		_, err := s.engine.Cluster.Create(ctx, s.engine.Cluster.Recreated(pod))
		if cluster.IsRejection(err) {
			s.reject(pod, err)
		} else if err != nil {
			return fmt.Errorf("recreate pod %s: %w", cluster.NameOf(pod), err)
		}
	}
	return nil
}

// reject takes note of a pod that the API server rejects.
func (s *Side) reject(pod *v1.Pod, err error) {
	name := cluster.NameOf(pod)
	if s.pods[name] == nil {
		s.pods[name] = s.newPod(pod)
	}
	s.refused = append(s.refused, snapshot.Notice{About: "pod " + name.String(), Reason: err.Error()})
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
		if s.pods[pod] == nil { // and it may be gone before the step ends
			s.pods[pod] = &Pod{Namespace: pod.Namespace, Name: pod.Name}
		}
		s.options.Progress(Schedules, len(s.tried), max(len(s.tried), s.queued))
	}
	now.attempts++
	now.last = s.slim(attempts[0])
	now.last.Number = now.attempts // the recorder may have forgotten those before
	if now.last.Preemption != nil {
		now.rooms = append(now.rooms, now.last)
	}
}

// slim is an attempt without what no comparison reads. Attempts share their columns where these are equal.
func (s *Side) slim(a recorder.Attempt) recorder.Attempt {
	a.PreScore = nil
	for _, verdicts := range []*[]recorder.PluginVerdict{&a.PreFilter, &a.Reserve, &a.Permit, &a.PreBind, &a.Bind} {
		*verdicts = slices.Clip(slices.DeleteFunc(*verdicts, func(v recorder.PluginVerdict) bool {
			return !v.LimitsNodes && (v.Verdict == recorder.Passed || v.Verdict == recorder.Skipped || v.Verdict == recorder.NotRun)
		}))
		if len(*verdicts) == 0 {
			*verdicts = nil
		}
	}
	if slices.Equal(a.Columns, s.columns) {
		a.Columns = s.columns
	}
	if slices.Equal(a.ScoreColumns, s.scored) {
		a.ScoreColumns = s.scored
	}
	s.columns, s.scored = a.Columns, a.ScoreColumns
	return a
}
