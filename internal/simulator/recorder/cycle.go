package recorder

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
)

// cycle is what is known while the scheduler works on a pod.
type cycle struct {
	rec     *record
	looked  bool                   // at the nodes: there are some
	leftOut func(name string) bool // whom PreFilter left out; nil: nobody
	why     group                  // of those
	scoring *scoring
}

type schedulePod = func(context.Context, schedframework.Framework, framework.CycleState, *schedframework.QueuedPodInfo) (scheduler.ScheduleResult, error)

// schedulePod records what becomes of a pod up to the choice of a node.
func (s *session) schedulePod(next schedulePod) schedulePod {
	return func(ctx context.Context, fwk schedframework.Framework, state framework.CycleState, pod *schedframework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		c := s.begin(fwk, pod.Pod)
		result, err := next(ctx, fwk, state, pod)
		s.current.Store(nil)
		s.recorder.update(c.rec, func() {
			c.rec.node, c.rec.took = result.SuggestedHost, time.Since(c.rec.began)
		})
		if c.looked {
			s.recorder.pack(c.rec, s.pack(c))
		}
		return result, err
	}
}

func (s *session) begin(fwk schedframework.Framework, pod *v1.Pod) *cycle {
	rec := &record{
		pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, uid: pod.UID,
		layout: s.layouts[fwk.ProfileName()], began: time.Now(), result: Pending,
	}
	rec.preFilter.failed = -1
	s.recorder.add(rec)
	s.put(rec)
	c := &cycle{rec: rec}
	s.current.Store(c)
	return c
}

// failureHandler records why a pod was not scheduled, in the words of its event,
// before the event is there.
func (s *session) failureHandler(next scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
	return func(ctx context.Context, fwk schedframework.Framework, pod *schedframework.QueuedPodInfo,
		status *framework.Status, nominating *framework.NominatingInfo, start time.Time,
	) {
		if rec := s.take(pod.Pod); rec != nil {
			s.recorder.update(rec, func() {
				rec.result, rec.message = Failed, status.Message()
				if status.IsRejected() {
					rec.result = Unschedulable
				}
				if rec.node == "" { // else it was the binding that failed
					rec.took = time.Since(start)
				}
			})
		}
		next(ctx, fwk, pod, status, nominating, start)
	}
}

// bound records that a pod is where it should be.
func (s *session) bound(pod *v1.Pod, node string) {
	rec := s.take(pod)
	if rec == nil {
		return
	}
	s.recorder.update(rec, func() {
		rec.result, rec.node = Scheduled, node
		rec.message = "Successfully assigned " + rec.pod.String() + " to " + node
	})
}

// look takes note of the nodes there are.
func (s *session) look(c *cycle, fwk schedframework.Framework) {
	list, err := fwk.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return // the scheduler will see it too
	}
	c.looked = true
	if s.nodes.is(list) {
		clear(s.cells)
		return
	}
	s.nodes = newSnapshot(list)
	s.cells = make([]*framework.Status, len(list))
}

// passed stands, among the cells, for a node that passed.
var passed = framework.NewStatus(framework.Success)

// pack makes rows of the cells.
func (s *session) pack(c *cycle) *details {
	p := packer{layout: c.rec.layout, universe: s.nodes.universe}
	for i, status := range s.cells {
		p.add(int32(i), c.say(status, s.nodes.universe.names[i]))
	}
	return p.details(c.scoring)
}

// say is what there is to say of a node.
func (c *cycle) say(status *framework.Status, node string) group {
	switch {
	case status == passed:
		return group{verdict: Passed, column: -1}
	case status == nil && c.leftOut != nil && c.leftOut(node):
		return c.why
	case status == nil:
		return group{verdict: NotRun, column: -1}
	}
	g := group{verdict: Rejected, column: c.rec.layout.columnOf(status.Plugin()), reason: status.Message()}
	if !status.IsRejected() {
		g.verdict = Errored
	}
	return g
}
