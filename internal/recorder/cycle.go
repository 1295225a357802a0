package recorder

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
)

// cycle is the state of a scheduling cycle.
type cycle struct {
	rec    *record
	looked bool // the nodes are known

	exclude  func()                 // records the nodes that no Filter runs on
	extended map[string]nodeVerdict // that extenders reject, for a sparse recorder

	mu      sync.Mutex         // several plugins and extenders score at once
	raw     map[string][]int64 // scores before they were normalized, by plugin
	scoring *scoring
}

// schedulePod records a pod's attempt up to the choice of a node.
func (s *session) schedulePod(next hooks.SchedulePod) hooks.SchedulePod {
	return func(ctx context.Context, fwk schedframework.Framework, state framework.CycleState, pod *hooks.Queued) (scheduler.ScheduleResult, error) {
		if s.group.Load().isTryOut() || !s.recorder.Wants(hooks.PodOf(pod)) {
			return next(ctx, fwk, state, pod)
		}
		c := s.begin(fwk, hooks.PodOf(pod))
		result, err := next(ctx, fwk, state, pod)
		s.current.Store(nil)
		var unfit *schedframework.FitError
		if errors.As(err, &unfit) {
			s.diagnose(c, fwk, unfit)
		}
		var groups []Group
		if c.looked {
			groups = groupNodes(s.nodes.names, s.nodes.places, s.verdicts)
		}
		s.recorder.update(func() {
			c.rec.Node, c.rec.Duration = result.SuggestedHost, time.Since(c.rec.Time)
			if groups == nil { // else they are counted
				c.rec.Evaluated, c.rec.Total = result.EvaluatedNodes, len(nodesOf(fwk))
			}
			if c.rec.PodGroup != nil && err == nil {
				c.rec.PodGroup.Fit++
			}
			s.recorder.keep(c.rec, groups, c.scoring)
		})
		return result, err
	}
}

func (s *session) begin(fwk schedframework.Framework, pod *v1.Pod) *cycle {
	profile := s.profiles[fwk.ProfileName()]
	rec := &record{
		Attempt: Attempt{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), Time: time.Now(), Result: Pending, PodGroup: s.group.Load()},
		profile: profile, verdicts: profile.verdicts.clone(),
	}
	if s.recorder.sparse {
		s.nodes.trim()
	}
	s.recorder.add(rec)
	s.inFlight.Store(pod.UID, rec)
	c := &cycle{rec: rec, raw: map[string][]int64{}}
	s.current.Store(c)
	return c
}

// failureHandler records why a pod was not scheduled, in the words of its event, which
// the scheduler sends after that.
func (s *session) failureHandler(next scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
	return func(ctx context.Context, fwk schedframework.Framework, pod *schedframework.QueuedPodInfo,
		status *framework.Status, nominating *framework.NominatingInfo, start time.Time,
	) {
		rec := s.take(pod.Pod)
		untried := rec == nil && s.group.Load() != nil && s.recorder.Wants(pod.Pod) // earlier pods have shown that the group does not fit
		if untried {
			rec = s.begin(fwk, pod.Pod).rec
			s.inFlight.Delete(pod.Pod.UID)
			s.current.Store(nil)
		}
		if rec != nil {
			s.recorder.update(func() {
				rec.Result, rec.Message = Failed, status.Message()
				if status.IsRejected() {
					rec.Result = Unschedulable
				}
				if rec.Node == "" { // else the binding failed, or the group does not fit
					rec.Duration = time.Since(start)
				}
				group := rec.PodGroup
				if group.Note() != "" && (untried || rec.Node != "") {
					rec.Fits, rec.Node, group.Reason = rec.Node, "", rec.Message
				}
				s.recorder.end(rec)
			})
		}
		next(ctx, fwk, pod, status, nominating, start)
	}
}

func (s *session) bound(pod *v1.Pod, node string) {
	rec := s.take(pod)
	if rec == nil {
		return
	}
	s.recorder.update(func() {
		rec.Node, rec.Result = node, Scheduled
		rec.Message = "Successfully assigned " + rec.pod().String() + " to " + node
		s.recorder.end(rec)
	})
	s.recorder.OnScheduled(pod)
}

// nodesOf are all nodes of the cycle.
func nodesOf(fwk schedframework.Framework) []framework.NodeInfo {
	list, _ := fwk.SnapshotSharedLister().NodeInfos().List() // the scheduler gets the same error
	return list
}

func (s *session) look(c *cycle, fwk schedframework.Framework) {
	list := nodesOf(fwk)
	if len(list) == 0 {
		return
	}
	c.looked = true
	s.nodes.follow(list)
	s.verdicts = slices.Grow(s.verdicts[:0], len(s.nodes.names))[:len(s.nodes.names)]
	for place := range s.verdicts {
		s.verdicts[place] = nodeVerdict{verdict: NotRun, column: -1}
	}
}
