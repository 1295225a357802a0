package scheduling

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
)

// profile is a profile of kube-scheduler with this package's part in each step of an attempt, which are in their order here. The
// profile's plugins have the framework in it as their handle.
type profile struct {
	framework.Framework
	scheduler *Scheduler
}

// Parallelizer has nodes filtered one after the other.
func (p *profile) Parallelizer() fwk.Parallelizer { return p.scheduler.seeded }

// RunPreFilterPlugins comes first after the scheduler has a new list of nodes.
func (p *profile) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	p.scheduler.seeded.beginAttempt(p.Framework, pod)
	p.scheduler.spreading.pod = pod
	result, status, limiting := p.Framework.RunPreFilterPlugins(ctx, state, pod)
	p.scheduler.seeded.limited = !result.AllNodes()
	p.scheduler.verdicts.notNamed = naming.NotNamed(state, sets.List(limiting))
	keep := result.AllNodes() && !p.scheduler.options.Recorder.Wants(pod)
	p.scheduler.nodes.begin(p.Framework, state, pod, len(p.scheduler.seeded.nodes), keep)
	return result, status, limiting
}

// RunFilterPluginsWithNominatedPods is called for one node after the other.
func (p *profile) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	s := p.scheduler.seeded
	if s.nodeName != nil {
		*s.nodeName = node.Node().Name
		return notFiltered
	}
	run := p.Framework.RunFilterPluginsWithNominatedPods
	if !p.scheduler.nodes.nominated.Load() && !p.scheduler.options.PodGroups {
		run = p.Framework.RunFilterPlugins // which does not look for any
	}
	return p.scheduler.nodes.filter(p.Framework, s.place, node, func() *fwk.Status { return run(ctx, state, pod, node) })
}

// RunPostFilterPlugins preempts by budgets that are counted, unless preemption is off or known not to help.
func (p *profile) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	verdicts := &p.scheduler.verdicts
	if verdicts.known != nil {
		return nil, verdicts.known.postFilter
	}
	if p.scheduler.NoPreemption {
		status := fwk.NewStatus(fwk.Unschedulable)
		verdicts.keep(nil, status)
		return nil, status
	}
	err := p.scheduler.options.SyncBudgets(ctx)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	result, status := p.Framework.RunPostFilterPlugins(ctx, state, pod, inOrder{nodes})
	verdicts.keep(result, status)
	return result, status
}

// RunScorePlugins gives each node a number, for the case that totals are equal.
func (p *profile) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := p.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if status.IsSuccess() {
		s := p.scheduler.seeded
		for i := range scores {
			scores[i].Randomizer = s.number(s.pod, scores[i].Name)
		}
		s.scores = scores
	}
	return scores, status
}

// StoreScheduleResults keeps nothing for the next pod: whether a list of nodes is still
// good for it, kube-scheduler decides by how many milliseconds have passed.
func (*profile) StoreScheduleResults(context.Context, fwk.PodSignature, string, string, framework.SortedScoredNodes, int64) {
}

// RunReservePluginsReserve is called when a pod has a node.
func (p *profile) RunReservePluginsReserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	binding := p.scheduler.bindings.reserve(p.Framework, p.scheduler.options.Cluster, pod, node)
	status := p.Framework.RunReservePluginsReserve(ctx, state, pod, node)
	if status.IsSuccess() {
		p.scheduler.bindings.expect(binding)
	}
	return status
}

// RunReservePluginsUnreserve is called if a step between Reserve and PostBind fails.
func (p *profile) RunReservePluginsUnreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	p.Framework.RunReservePluginsUnreserve(ctx, state, pod, node)
	p.scheduler.Attempts.addReleased()
	p.scheduler.bindings.unreserve(pod)
}

// RunPreBindPreFlights comes first in a binding cycle, if it comes.
func (p *profile) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	status := p.scheduler.bindings.awaitRelease(ctx, pod)
	if !status.IsSuccess() {
		return status
	}
	return p.Framework.RunPreBindPreFlights(ctx, state, pod, node)
}

// WaitOnPermit comes next.
func (p *profile) WaitOnPermit(ctx context.Context, pod *v1.Pod) *fwk.Status {
	status := p.scheduler.bindings.awaitRelease(ctx, pod)
	if !status.IsSuccess() {
		return status
	}
	return p.Framework.WaitOnPermit(ctx, pod)
}

// RunPreBindPlugins waits for no device: a real driver would fulfil its conditions.
func (p *profile) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	ctx, end := p.scheduler.bindings.beginPreBind(ctx, pod)
	status := p.Framework.RunPreBindPlugins(ctx, state, pod, node)
	if end() && !status.IsSuccess() {
		p.scheduler.options.Cluster.Unmodelled("fulfil the bindingConditions of devices")
		return fwk.NewStatus(fwk.Unschedulable, "its devices wait for their bindingConditions").WithPlugin(names.DynamicResources)
	}
	return status
}

// RunPostBindPlugins comes last.
func (p *profile) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	p.Framework.RunPostBindPlugins(ctx, state, pod, node)
	p.scheduler.Attempts.bound(pod, node)
	p.scheduler.ended(pod)
}
