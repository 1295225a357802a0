package wasmhost

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/tracing"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

func (p *plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return p.events, nil
}

// begin makes a new cycle, of the guest that is there.
func (p *plugin) begin(state fwk.CycleState, pod *v1.Pod) *cycle {
	c := newCycle(p.lease.Load(), pod)
	c.state = state
	c.measured = state.ShouldRecordPluginMetrics()
	c.trace = tracing.Of(state)
	state.Write(p.key, c)
	p.last.Store(c)
	if p.lease.Load() != c.lease { // the guest was replaced meanwhile, and use has not seen c
		p.last.Store(nil)
	}
	return c
}

func newCycle(l *lease, pod *v1.Pod) *cycle {
	c := &cycle{lease: l, attempt: &attempt{guest: l.guest, pod: pod}}
	if l.guest.compiled.Active.Has(abi.PreFilter) {
		c.history = afterPreFilter
	}
	return c
}

// cycleOf finds the cycle of a state, or nil if it has none. Nearly every call is for the
// last one, and to compare is cheaper than to look it up.
func (p *plugin) cycleOf(state fwk.CycleState) *cycle {
	last := p.last.Load()
	if last != nil && last.state == state {
		return last
	}
	if data, err := state.Read(p.key); err == nil {
		return data.(*cycle)
	}
	return nil
}

// cycleFor finds the cycle of a state. If PreFilter was not called for it, which
// is so where the plugin is enabled at single extension points, it begins here.
func (p *plugin) cycleFor(state fwk.CycleState, pod *v1.Pod) *cycle {
	c := p.cycleOf(state)
	if c != nil {
		return c
	}
	p.beginning.Lock()
	defer p.beginning.Unlock()
	c = p.cycleOf(state)
	if c != nil {
		return c // another goroutine has begun it
	}
	return p.begin(state, pod)
}

// PreFilter implements fwk.PreFilterPlugin. It begins the cycle of a pod.
func (p *plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	c := p.begin(state, pod)
	c.answers = c.guest.answers.Of(pod, nodes)
	if c.answers != nil {
		c.guest.metrics.flush()
	}
	q := &question{hook: abi.PreFilter}
	status := c.ask(q)
	var result *fwk.PreFilterResult
	if q.out.NodeNames != nil {
		result = &fwk.PreFilterResult{NodeNames: q.out.NodeNames}
	}
	if c.answers == nil || !status.IsSuccess() {
		return result, status
	}
	return c.narrow(result)
}

func (p *plugin) PreFilterExtensions() fwk.PreFilterExtensions {
	if !p.hooks.Has(abi.AddPod, abi.RemovePod) {
		return nil
	}
	return p
}

// AddPod implements fwk.PreFilterExtensions, for a guest that keeps account of the pods
// on a node while the scheduler tries something out: preemption, or where nominated pods
// would run.
func (p *plugin) AddPod(_ context.Context, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	return p.cycleFor(state, pod).change(abi.AddPod, added, node)
}

func (p *plugin) RemovePod(_ context.Context, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	return p.cycleFor(state, pod).change(abi.RemovePod, removed, node)
}

func (c *cycle) change(hook abi.Hook, target fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	return c.askStep(&question{hook: hook, in: abi.In{Target: &shownPod{c.guest.visible, target.GetPod()}, NodeName: node.Node().Name}})
}

// filterHooks are the hooks of a guest that filters.
type filterHooks struct{ p *plugin }

// Filter implements fwk.FilterPlugin. It is the hot path: it allocates nothing but
// the Status of a node that is rejected.
func (f filterHooks) Filter(_ context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	c := f.p.cycleFor(state, pod)
	return c.ask(&question{hook: abi.Filter, node: node, after: c.history})
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
	c := f.p.cycleOf(state)
	if c == nil || c.rejected { // PreFilter has given the reason
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	if !c.guest.compiled.Exports.Has(abi.PostFilter) {
		return nil, c.explain(fwk.NewStatus(fwk.Unschedulable))
	}
	q := &question{hook: abi.PostFilter, in: abi.In{Statuses: func() any { return codesOf(nodes) }}, after: c.history}
	status := c.ask(q)
	nominated := q.out.NominatedNode
	if nominated != "" && !f.p.hasNode(nominated) {
		return nil, fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf("wasm: postfilter nominated the node %q, which does not exist", nominated))
	}
	if status.IsSuccess() && nominated == "" {
		status = fwk.NewStatus(fwk.Unschedulable)
	}
	if status.IsRejected() {
		status = c.explain(status)
	}
	return &fwk.PostFilterResult{NominatingInfo: &fwk.NominatingInfo{
		NominatedNodeName: nominated, NominatingMode: fwk.NominatingMode(q.out.Number),
	}}, status
}

// hasNode reports whether there is a node in this scheduling cycle.
func (p *plugin) hasNode(name string) bool {
	if p.handle == nil {
		return true
	}
	_, err := p.handle.SnapshotSharedLister().NodeInfos().Get(name)
	return err == nil
}

// explain says why nodes were excluded, if some were: the scheduler has no reason
// for nodes that it did not look at.
func (c *cycle) explain(status *fwk.Status) *fwk.Status {
	if c.excluded == "" {
		return status
	}
	return fwk.NewStatus(status.Code(), c.excluded)
}

// scoreHooks are the hooks of a guest that scores.
type scoreHooks struct{ p *plugin }

func (h scoreHooks) PreScore(_ context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	c := h.p.cycleFor(state, pod)
	var in abi.In
	if c.guest.compiled.AsksWhoPassed {
		names := namesOf(nodes) // now: the scheduler renews the nodes when the step may be repeated
		in.FilteredNodes = func() any { return names }
	}
	return c.askStep(&question{hook: abi.PreScore, in: in})
}

func (h scoreHooks) Score(_ context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	c := h.p.cycleFor(state, pod)
	q := &question{hook: abi.Score, node: node, after: c.history}
	status := c.ask(q)
	return int64(q.out.Number), status
}

func (h scoreHooks) ScoreExtensions() fwk.ScoreExtensions {
	if !h.p.hooks.Has(abi.NormalizeScore) {
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
	c := h.p.cycleFor(state, pod)
	q := &question{hook: abi.NormalizeScore, in: abi.In{Scores: func() any { return byName }}, after: c.history}
	status := c.ask(q)
	changed := q.out.Scores
	if !status.IsSuccess() || len(changed) == 0 {
		return status // the guest has nothing to change
	}
	if len(changed) != len(scores) {
		return fwk.AsStatus(fmt.Errorf("wasm: normalizescore returned %d scores for %d nodes", len(changed), len(scores)))
	}
	for i, node := range scores {
		score, ok := changed[node.Name]
		if !ok {
			return fwk.AsStatus(fmt.Errorf("wasm: normalizescore omitted node %s", node.Name))
		}
		scores[i].Score = score
	}
	return nil
}

// SignPod implements fwk.SignPlugin: pods that the guest cannot tell apart have the
// same signature, and the scheduler may use for one pod what it found out for another.
// A plugin that does not sign turns opportunistic batching off for all pods of its
// profile. The scheduler signs a pod when it is queued, so a signature outlives the guest
// that was there: what may be replaced signs nothing.
func (p *plugin) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	g := p.lease.Load().guest
	switch {
	case g.answers == nil:
		return nil, fwk.NewStatus(fwk.Unschedulable, g.notRemembered)
	case p.reloads:
		return nil, fwk.NewStatus(fwk.Unschedulable, mayBeReplaced)
	}
	var fragments []fwk.SignFragment
	for _, field := range g.decidesBy.Pod {
		var signed any // nil where the field is not there, which is not the empty one
		if value, ok := answers.PodValue(field, pod); ok {
			signed = value
		}
		fragments = append(fragments, fwk.SignFragment{Key: field.String(), Value: signed})
	}
	return fragments, nil
}
