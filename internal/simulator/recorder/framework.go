package recorder

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
)

// recordedFramework reports what the plugins of a profile say. The plugins
// themselves are given the framework in it: what preemption tries out is not
// recorded.
type recordedFramework struct {
	schedframework.Framework
	session *session
	raw     *rawScores
	listed  types.NamespacedName // the pod for which the scheduler made its list of nodes
}

func (f *recordedFramework) RunPreFilterPlugins(ctx context.Context, state framework.CycleState, pod *v1.Pod) (*framework.PreFilterResult, *framework.Status, sets.Set[string]) {
	c := f.session.current.Load()
	if c != nil {
		f.session.look(c, f.Framework)
	}
	result, status, limiting := f.Framework.RunPreFilterPlugins(ctx, state, pod)
	if c != nil {
		verdict := newPreFilter(c.rec.layout, state.GetSkipFilterPlugins(), limiting, status)
		f.session.recorder.update(c.rec, func() { c.rec.preFilter = verdict })
		c.leaveOut(result, status, limiting)
	}
	return result, status, limiting
}

func newPreFilter(l *layout, skipped, limiting sets.Set[string], status *framework.Status) preFilter {
	p := preFilter{ran: true, failed: -1}
	for i, name := range l.preFilter {
		if skipped.Has(name) {
			p.skipped = p.skipped.with(i)
		}
		if limiting.Has(name) {
			p.limits = p.limits.with(i)
		}
		// When the limits leave no node, that counts against the last of them.
		if !status.IsSuccess() && (status.Plugin() == name || status.Plugin() == "" && limiting.Has(name)) {
			p.failed = i
		}
	}
	if p.failed >= 0 {
		p.verdict, p.reason, p.goesOn = Rejected, status.Message(), status.Code() == framework.Unschedulable
		if !status.IsRejected() {
			p.verdict = Errored
		}
	}
	return p
}

// leaveOut says which nodes no Filter will be asked about, and why.
func (c *cycle) leaveOut(result *framework.PreFilterResult, status *framework.Status, limiting sets.Set[string]) {
	why := group{verdict: LeftOut, column: -1}
	switch {
	case !status.IsSuccess():
		why.reason = status.Message()
		why.column = c.rec.layout.columnOf(status.Plugin())
		c.leftOut = func(string) bool { return true }
	case !result.AllNodes():
		why.reason = fmt.Sprintf("PreFilter of %v names other nodes", sets.List(limiting))
		c.leftOut = func(name string) bool { return !result.NodeNames.Has(name) }
	default:
		return
	}
	if len(limiting) == 1 {
		why.column = c.rec.layout.columnOf(sets.List(limiting)[0])
	}
	c.why = why
}

// RunFilterPluginsWithNominatedPods is called for many nodes at once, each in a
// cell of its own.
func (f *recordedFramework) RunFilterPluginsWithNominatedPods(ctx context.Context, state framework.CycleState, pod *v1.Pod, node framework.NodeInfo) *framework.Status {
	status := f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	if place, ok := f.session.nodes.placeOf(node); ok {
		if f.session.cells[place] = status; status.IsSuccess() {
			f.session.cells[place] = passed
		}
	}
	return status
}

func (f *recordedFramework) RunPostFilterPlugins(ctx context.Context, state framework.CycleState, pod *v1.Pod, nodes framework.NodeToStatusReader) (*framework.PostFilterResult, *framework.Status) {
	rec := f.session.of(pod)
	if rec != nil {
		f.session.recorder.update(rec, func() { rec.makesRoom = true })
	}
	result, status := f.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
	if rec != nil {
		verdict := f.postFilter(status)
		f.session.recorder.update(rec, func() {
			rec.postFilter, rec.nominated = verdict, nominated(result)
			rec.makesRoom = rec.nominated != ""
		})
	}
	return result, status
}

func (f *recordedFramework) postFilter(status *framework.Status) *PluginVerdict {
	verdict := &PluginVerdict{Plugin: f.onlyPostFilter(), Verdict: Passed}
	if status.IsSuccess() {
		return verdict
	}
	verdict.Verdict, verdict.Reason = Errored, status.Message()
	if status.IsRejected() {
		verdict.Verdict = Rejected
	}
	// Unschedulable has the reasons of all the plugins, under the name of the first.
	if status.Code() != framework.Unschedulable {
		verdict.Plugin = status.Plugin()
	}
	return verdict
}

// onlyPostFilter is the PostFilter plugin, if there is but one.
func (f *recordedFramework) onlyPostFilter() string {
	if enabled := f.ListPlugins().PostFilter.Enabled; len(enabled) == 1 {
		return enabled[0].Name
	}
	return ""
}

func (f *recordedFramework) RunScorePlugins(ctx context.Context, state framework.CycleState, pod *v1.Pod, nodes []framework.NodeInfo) ([]framework.NodePluginScores, *framework.Status) {
	c := f.session.current.Load()
	raw := f.raw.begin()
	result, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if c != nil && status.IsSuccess() {
		c.scoring = f.session.newScoring(c.rec.layout, nodes, result, raw)
	}
	return result, status
}

// StoreScheduleResults is called when a node is chosen. If it is the one that was
// hinted at, no other was asked, and it comes from the list for a pod before.
func (f *recordedFramework) StoreScheduleResults(ctx context.Context, signature framework.PodSignature, hinted, chosen string, others schedframework.SortedScoredNodes, cycle int64) {
	f.Framework.StoreScheduleResults(ctx, signature, hinted, chosen, others, cycle)
	c := f.session.current.Load()
	switch {
	case c == nil:
	case hinted == chosen:
		hint := &Hint{Node: hinted, Pod: f.listed.String()}
		f.session.recorder.update(c.rec, func() { c.rec.hint = hint })
	default:
		f.listed = c.rec.pod
	}
}

func (f *recordedFramework) RunPostBindPlugins(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) {
	f.Framework.RunPostBindPlugins(ctx, state, pod, node)
	f.session.bound(pod, node)
}

var _ schedframework.Framework = (*recordedFramework)(nil)

// raw are scores as the plugins gave them, by plugin and in the order of nodes.
type raw struct {
	mu       sync.Mutex // plugins normalize side by side
	byPlugin map[string][]int64
}
