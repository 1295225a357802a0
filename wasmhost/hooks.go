package wasmhost

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// EventsToRegister implements fwk.EnqueueExtensions.
func (p *plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return p.events, nil
}

// PreFilter implements fwk.PreFilterPlugin. It begins the cycle of a pod.
func (p *plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if p.sharing == perPod {
		p.release(pod) // its last cycle did not end as it should
	}
	answers, table := p.answers.of(pod, nodes)
	doubted := answers != nil && p.answers.doubt()
	if !doubted && p.skips(answers) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	c := p.begin(state, pod)
	c.answers, c.nodes = answers, table
	var a preFilterAnswer
	_, status := p.judge(state, abi.PreFilter, func() (_ abi.Out, err error) {
		a, err = p.recallPreFilter(c, doubted)
		return a.Out, err
	})
	if !status.IsSkip() || p.guest.Exports().Has(afterSkip...) {
		p.leave(state, c)
	}
	if status.IsSuccess() {
		return p.narrow(c, a.result)
	}
	return a.result, status
}

// skips reports whether it is remembered that a guest takes no part in the cycles of
// pods like this one. Then no cycle is begun.
func (p *plugin) skips(a *podAnswers) bool {
	if a == nil || p.guest.Exports().Has(afterSkip...) {
		return false
	}
	known := a.preFilter.Load()
	if known == nil || fwk.Code(known.Code) != fwk.Skip {
		return false
	}
	p.answers.metrics.recall()
	return true
}

// afterSkip are the hooks that are called although PreFilter was skipped. Of the
// others only PostFilter is, before the next cycle begins.
var afterSkip = append([]abi.Hook{abi.PreScore, abi.Score, abi.NormalizeScore}, bindingCycle...)

// PreFilterExtensions implements fwk.PreFilterPlugin.
func (p *plugin) PreFilterExtensions() fwk.PreFilterExtensions {
	if !p.guest.Exports().Has(abi.AddPod, abi.RemovePod) {
		return nil
	}
	return p
}

// AddPod implements fwk.PreFilterExtensions, for a guest that keeps account of the pods
// on a node while the scheduler tries something out: preemption, or where nominated pods
// would run.
func (p *plugin) AddPod(_ context.Context, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	return p.change(state, pod, &change{abi.AddPod, added.GetPod(), node.Node().Name})
}

// RemovePod implements fwk.PreFilterExtensions.
func (p *plugin) RemovePod(_ context.Context, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	return p.change(state, pod, &change{abi.RemovePod, removed.GetPod(), node.Node().Name})
}

// change makes a change in a cycle, for one instance now and for others later.
func (p *plugin) change(state fwk.CycleState, pod *v1.Pod, made *change) *fwk.Status {
	in := abi.In{Target: made.target, NodeName: made.node}
	_, status := p.decide(state, pod, made.hook, in, func(c *cycle, s *seen) {
		c.changes, s.changes = append(c.changes, made), append(s.changes, made)
	})
	return status
}

// filterHooks are the hooks of a guest that filters.
type filterHooks struct{ p *plugin }

// Filter implements fwk.FilterPlugin. It is the hot path: it allocates nothing but
// the Status of a node that is rejected.
func (f filterHooks) Filter(_ context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	p := f.p
	if !p.active.Has(abi.Filter) {
		return p.constant(abi.Filter)
	}
	m := p.measure(state)
	status := p.recallFilter(p.cycleFor(state, pod), node.Node())
	m.done(abi.Filter, status)
	return status
}

// PostFilter implements fwk.PostFilterPlugin.
//
// The framework takes Success for a node that was found. It then asks no other plugin,
// such as DefaultPreemption, and reports no reason. But guests answer Success when they
// have nothing to say. Here that is a rejection without a reason, unless a node was
// nominated.
//
// A guest that has not seen this cycle is not asked. Where an earlier plugin's
// PreFilter rejects the pod, the guest's own has not run, and what it remembers
// is of another pod, perhaps of another namespace.
func (f filterHooks) PostFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	c := f.p.cycleOf(state, pod)
	if c == nil || c.turnedDown { // PreFilter has given the reason
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	if !f.p.guest.Exports().Has(abi.PostFilter) {
		return nil, c.explain(fwk.NewStatus(fwk.Unschedulable))
	}
	out, status := f.p.decide(state, pod, abi.PostFilter, abi.In{Statuses: func() map[string]int { return codesOf(nodes) }}, nil)
	if status.IsSuccess() && out.NominatedNode == "" {
		status = fwk.NewStatus(fwk.Unschedulable)
	}
	if status.IsRejected() {
		status = c.explain(status)
	}
	return &fwk.PostFilterResult{NominatingInfo: &fwk.NominatingInfo{
		NominatedNodeName: out.NominatedNode, NominatingMode: fwk.NominatingMode(out.Number),
	}}, status
}

// explain says why nodes were left out, where some were: the scheduler has no reason
// for nodes that it did not look at.
func (c *cycle) explain(status *fwk.Status) *fwk.Status {
	if c.leftOut == "" {
		return status
	}
	return fwk.NewStatus(status.Code(), c.leftOut)
}

// codesOf are the codes of the nodes that have a status of their own. The interface does
// not list them, but the framework's type does.
func codesOf(nodes fwk.NodeToStatusReader) map[string]int {
	codes := map[string]int{}
	if explicit, ok := nodes.(interface {
		ForEachExplicitNode(func(string, *fwk.Status))
	}); ok {
		explicit.ForEachExplicitNode(func(node string, status *fwk.Status) {
			if status != nil {
				codes[node] = int(status.Code())
			}
		})
	}
	return codes
}

// scoreHooks are the hooks of a guest that scores.
type scoreHooks struct{ p *plugin }

// PreScore implements fwk.PreScorePlugin.
func (h scoreHooks) PreScore(_ context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	in := abi.In{FilteredNodes: func() []string { return namesOf(nodes) }}
	_, status := h.p.decide(state, pod, abi.PreScore, in, func(c *cycle, s *seen) {
		s.prescore = true
		c.scored.Store(&nodes)
	})
	return status
}

// Score implements fwk.ScorePlugin.
func (h scoreHooks) Score(_ context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	out, status := h.p.judge(state, abi.Score, func() (abi.Out, error) {
		return h.p.recallScore(h.p.cycleFor(state, pod), node.Node())
	})
	return int64(out.Number), status
}

// ScoreExtensions implements fwk.ScorePlugin.
func (h scoreHooks) ScoreExtensions() fwk.ScoreExtensions {
	if !h.p.guest.Exports().Has(abi.NormalizeScore) {
		return nil
	}
	return h
}

// NormalizeScore implements fwk.ScoreExtensions. A guest knows scores by the
// nodes' names; the framework finds them by their place in the list.
func (h scoreHooks) NormalizeScore(_ context.Context, state fwk.CycleState, pod *v1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	byName := make(map[string]int64, len(scores))
	for _, score := range scores {
		byName[score.Name] = score.Score
	}
	out, status := h.p.decide(state, pod, abi.NormalizeScore, abi.In{Scores: byName}, nil)
	if !status.IsSuccess() || len(out.Scores) == 0 {
		return status // the guest has nothing to change
	}
	if len(out.Scores) != len(scores) {
		return fwk.AsStatus(fmt.Errorf("wasm: normalizescore returned %d scores for %d nodes", len(out.Scores), len(scores)))
	}
	for i, node := range scores {
		score, ok := out.Scores[node.Name]
		if !ok {
			return fwk.AsStatus(fmt.Errorf("wasm: normalizescore left out node %s", node.Name))
		}
		scores[i].Score = score
	}
	return nil
}

func namesOf(nodes []fwk.NodeInfo) []string {
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Node().Name
	}
	return names
}
