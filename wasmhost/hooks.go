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
	_, status := p.judge(state, abi.PreFilter, func() (_ answer, err error) {
		a, err = p.recallPreFilter(c, doubted)
		return a.answer, err
	})
	if !status.IsSkip() || p.guest.Exports().Has(besideFilter...) {
		p.remember(state, c)
	}
	if status.IsSuccess() {
		return p.narrow(c, a.result)
	}
	return a.result, status
}

// skips reports whether it is remembered that a guest takes no part in the cycles
// of pods like this one, and so needs none.
func (p *plugin) skips(a *podAnswers) bool {
	if a == nil || p.guest.Exports().Has(besideFilter...) {
		return false
	}
	known := a.preFilter.Load()
	if known == nil || fwk.Code(known.value) != fwk.Skip {
		return false
	}
	p.answers.metrics.recall()
	return true
}

// besideFilter are the hooks that are called although PreFilter was skipped. Of
// the others only PostFilter is, before the next cycle begins.
var besideFilter = append([]abi.Hook{abi.PreScore, abi.Score, abi.NormalizeScore}, bindingCycle...)

// preFilter is the one call whose instance need not catch up.
func (p *plugin) preFilter(c *cycle) (answer, error) {
	s := p.pool.lock()
	defer p.pool.unlock(s)
	if err := p.provide(s); err != nil {
		return answer{}, err
	}
	p.show(s.instance, c)
	return p.askIn(s, c, abi.PreFilter, abi.In{})
}

// PreFilterExtensions implements fwk.PreFilterPlugin.
func (p *plugin) PreFilterExtensions() fwk.PreFilterExtensions {
	if !p.guest.Exports().Has(abi.AddPod, abi.RemovePod) {
		return nil
	}
	return podHooks{p}
}

// podHooks are the hooks of a guest that keeps account of the pods on a node
// while something is tried out: preemption, or where nominated pods would run.
type podHooks struct{ p *plugin }

// AddPod implements fwk.PreFilterExtensions.
func (h podHooks) AddPod(_ context.Context, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	return h.change(state, pod, &change{abi.AddPod, added.GetPod(), node.Node().Name})
}

// RemovePod implements fwk.PreFilterExtensions.
func (h podHooks) RemovePod(_ context.Context, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	return h.change(state, pod, &change{abi.RemovePod, removed.GetPod(), node.Node().Name})
}

func (h podHooks) change(state fwk.CycleState, pod *v1.Pod, change *change) *fwk.Status {
	_, status := h.p.judge(state, change.hook, func() (answer, error) { return h.p.try(h.p.cycleFor(state, pod), change) })
	return status
}

// try makes a change in a cycle, for this instance now and for others later.
func (p *plugin) try(c *cycle, change *change) (answer, error) {
	s, err := p.enter(c, false)
	if err != nil {
		return answer{}, err
	}
	defer p.pool.unlock(s)
	a, err := p.askIn(s, c, change.hook, abi.In{Target: change.target, NodeName: change.node})
	if err != nil {
		return answer{}, err
	}
	c.changes = append(c.changes, change)
	s.instance.seen.changes = append(s.instance.seen.changes, change)
	return a, nil
}

// filterHooks are the hooks of a guest that filters.
type filterHooks struct{ p *plugin }

// Filter implements fwk.FilterPlugin. It is the hot path: it makes nothing but
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

func (p *plugin) recallFilter(c *cycle, node *v1.Node) *fwk.Status {
	if c.answers == nil {
		return p.filter(c, node)
	}
	if v, known := p.recall(c, &c.answers.filter, node); known {
		return statusOf(abi.Filter, int32(v.value), v.reasons)
	}
	return p.filter(c, node)
}

// filter asks the guest.
func (p *plugin) filter(c *cycle, node *v1.Node) *fwk.Status {
	s, err := p.enter(c, false)
	if err != nil {
		return fwk.AsStatus(err)
	}
	i := s.instance
	i.In.NodeName = node.Name
	value, err := p.call(s, c, abi.Filter)
	if err != nil {
		p.pool.unlock(s)
		return fwk.AsStatus(err)
	}
	v := verdict{value, i.Out().Reasons}
	p.pool.unlock(s)
	if c.answers != nil {
		p.learn(c, abi.Filter, &c.answers.filter, node, v)
	}
	return statusOf(abi.Filter, int32(v.value), v.reasons)
}

// PostFilter implements fwk.PostFilterPlugin.
//
// The framework takes Success for a node that was found, and asks and tells
// nothing more: what other plugins have said, DefaultPreemption first of all, is
// lost. Guests answer Success when they have nothing to say. Here that is a
// rejection without a reason, unless a node was nominated.
//
// A guest that has not seen this cycle is not asked. Where an earlier plugin's
// PreFilter rejects the pod, the guest's own has not run, and what it remembers
// is of another pod, perhaps of another namespace.
func (f filterHooks) PostFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	c := f.p.cycleOf(state, pod)
	if c == nil || c.turnedDown { // all is said
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	if !f.p.guest.Exports().Has(abi.PostFilter) {
		return nil, c.explain(fwk.NewStatus(fwk.Unschedulable))
	}
	m := f.p.measure(state)
	a, err := f.p.ask(c, abi.PostFilter, abi.In{Statuses: func() map[string]int { return codesOf(nodes) }})
	status := verdictOf(abi.PostFilter, a, err)
	m.done(abi.PostFilter, status)
	if status.IsSuccess() && a.out.NominatedNode == "" {
		status = fwk.NewStatus(fwk.Unschedulable)
	}
	if status.IsRejected() {
		status = c.explain(status)
	}
	if err != nil {
		return nil, status
	}
	return &fwk.PostFilterResult{NominatingInfo: &fwk.NominatingInfo{
		NominatedNodeName: a.out.NominatedNode,
		NominatingMode:    fwk.NominatingMode(int32(a.value >> 32)),
	}}, status
}

// explain says why nodes were left out, where some were: the scheduler has no
// reason for nodes that it did not look at. Who names nodes itself, as the guest may,
// knows only which it has named.
func (c *cycle) explain(status *fwk.Status) *fwk.Status {
	if c.leftOut == "" {
		return status
	}
	return fwk.NewStatus(status.Code(), c.leftOut)
}

// codesOf are the codes of the nodes that have one of their own. The interface
// does not give them away, but the framework's type does.
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
	_, status := h.p.judge(state, abi.PreScore, func() (answer, error) { return h.p.preScore(h.p.cycleFor(state, pod), nodes) })
	return status
}

func (p *plugin) preScore(c *cycle, nodes []fwk.NodeInfo) (answer, error) {
	s, err := p.enter(c, false)
	if err != nil {
		return answer{}, err
	}
	defer p.pool.unlock(s)
	a, err := p.askIn(s, c, abi.PreScore, abi.In{FilteredNodes: func() []string { return namesOf(nodes) }})
	if err != nil {
		return answer{}, err
	}
	s.instance.seen.prescore = true
	c.scored.Store(&nodes)
	return a, nil
}

// Score implements fwk.ScorePlugin.
func (h scoreHooks) Score(_ context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	a, status := h.p.judge(state, abi.Score, func() (answer, error) {
		return h.p.recallScore(h.p.cycleFor(state, pod), node.Node())
	})
	return int64(int32(a.value >> 32)), status
}

func (p *plugin) recallScore(c *cycle, node *v1.Node) (answer, error) {
	if c.answers == nil {
		return p.ask(c, abi.Score, abi.In{NodeName: node.Name})
	}
	if v, known := p.recall(c, &c.answers.score, node); known {
		return answer{value: v.value, out: abi.Out{Reasons: v.reasons}}, nil
	}
	a, err := p.ask(c, abi.Score, abi.In{NodeName: node.Name})
	if err == nil {
		p.learn(c, abi.Score, &c.answers.score, node, a.verdict())
	}
	return a, err
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
	p := h.p
	if !p.active.Has(abi.NormalizeScore) {
		return p.constant(abi.NormalizeScore)
	}
	m := p.measure(state)
	a, err := p.ask(p.cycleFor(state, pod), abi.NormalizeScore, abi.In{Scores: byName(scores)})
	status := verdictOf(abi.NormalizeScore, a, err)
	m.done(abi.NormalizeScore, status)
	if !status.IsSuccess() || len(a.out.Scores) == 0 {
		return status // the guest has nothing to change
	}
	if len(a.out.Scores) != len(scores) {
		return fwk.AsStatus(fmt.Errorf("wasm: normalizescore returned %d scores for %d nodes", len(a.out.Scores), len(scores)))
	}
	return inOrder(scores, a.out.Scores)
}

func byName(scores fwk.NodeScoreList) map[string]int64 {
	named := make(map[string]int64, len(scores))
	for _, score := range scores {
		named[score.Name] = score.Score
	}
	return named
}

// inOrder puts normalized scores where they belong.
func inOrder(scores fwk.NodeScoreList, normalized map[string]int64) *fwk.Status {
	for i, node := range scores {
		score, ok := normalized[node.Name]
		if !ok {
			return fwk.AsStatus(fmt.Errorf("wasm: normalizescore left out node %s", node.Name))
		}
		scores[i].Score = score
	}
	return nil
}
