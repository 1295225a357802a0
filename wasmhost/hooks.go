package wasmhost

import (
	"context"
	"fmt"
	"io"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// What the framework finds out about a plugin by type assertion goes together
// in these groups, as in the upstream host's mask.go.
type (
	filterPlugin interface {
		framework.FilterPlugin
		framework.PostFilterPlugin
	}
	scorePlugin interface {
		framework.PreScorePlugin
		framework.ScoreExtensions
		framework.ScorePlugin
	}
	bindPlugin interface {
		framework.PreBindPlugin
		framework.BindPlugin
		framework.PostBindPlugin
	}
)

// hooksOf asserts the interfaces of an upstream plugin.
func hooksOf(pl framework.Plugin) hooks {
	h := hooks{closer: pl.(io.Closer), prefilter: pl.(framework.PreFilterPlugin)}
	h.filter, _ = pl.(filterPlugin)
	h.score, _ = pl.(scorePlugin)
	h.reserve, _ = pl.(framework.ReservePlugin)
	h.permit, _ = pl.(framework.PermitPlugin)
	h.bind, _ = pl.(bindPlugin)
	return h
}

// Name implements framework.Plugin.
func (r *replaceable) Name() string { return r.source.plugin }

// EventsToRegister implements framework.EnqueueExtensions.
func (r *replaceable) EventsToRegister(context.Context) ([]framework.ClusterEventWithHint, error) {
	return r.events, nil
}

// PreFilter implements framework.PreFilterPlugin. It begins the cycle of a pod.
func (r *replaceable) PreFilter(ctx context.Context, state *framework.CycleState, pod *v1.Pod) (result *framework.PreFilterResult, status *framework.Status) {
	status = r.enter(ctx, pod, "prefilter", true, func(h hooks) (s *framework.Status) {
		r.cycle = state
		result, s = h.prefilter.PreFilter(ctx, state, pod)
		return s
	})
	return result, status
}

// PreFilterExtensions implements framework.PreFilterPlugin.
func (r *replaceable) PreFilterExtensions() framework.PreFilterExtensions {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.guest.prefilter.PreFilterExtensions() == nil {
		return nil
	}
	return podHooks{r}
}

// podHooks are the hooks of a guest that keeps account of the pods on a node
// while preemption is tried out.
type podHooks struct{ r *replaceable }

// AddPod implements framework.PreFilterExtensions.
func (p podHooks) AddPod(ctx context.Context, state *framework.CycleState, pod *v1.Pod, added *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	return p.r.enter(ctx, pod, "addpod", false, func(h hooks) *framework.Status {
		return h.prefilter.PreFilterExtensions().AddPod(ctx, state, pod, added, node)
	})
}

// RemovePod implements framework.PreFilterExtensions.
func (p podHooks) RemovePod(ctx context.Context, state *framework.CycleState, pod *v1.Pod, removed *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	return p.r.enter(ctx, pod, "removepod", false, func(h hooks) *framework.Status {
		return h.prefilter.PreFilterExtensions().RemovePod(ctx, state, pod, removed, node)
	})
}

// filterHooks are the hooks of a guest that filters.
type filterHooks struct{ r *replaceable }

// Filter implements framework.FilterPlugin.
func (f filterHooks) Filter(ctx context.Context, state *framework.CycleState, pod *v1.Pod, node *framework.NodeInfo) *framework.Status {
	return f.r.enter(ctx, pod, "filter", false, func(h hooks) *framework.Status {
		return h.filter.Filter(ctx, state, pod, node)
	})
}

// PostFilter implements framework.PostFilterPlugin.
//
// The framework takes Success for a node that was found, and asks and tells
// nothing more: what other plugins have said, DefaultPreemption first of all, is
// lost. Guests answer Success when they have nothing to say, and the upstream
// host does for those that export no postfilter. Here that is a rejection
// without a reason, unless a node was nominated.
//
// A guest that has not seen this cycle is not asked. Where an earlier plugin's
// PreFilter rejects the pod, the guest's own has not run, and what it remembers
// is of another pod, perhaps of another namespace.
func (f filterHooks) PostFilter(ctx context.Context, state *framework.CycleState, pod *v1.Pod, nodes framework.NodeToStatusMap) (result *framework.PostFilterResult, status *framework.Status) {
	status = f.r.enter(ctx, pod, "postfilter", false, func(h hooks) (s *framework.Status) {
		if f.r.cycle != state {
			return nil
		}
		result, s = h.filter.PostFilter(ctx, state, pod, nodes)
		return s
	})
	if status.IsSuccess() && !nominates(result) {
		status = framework.NewStatus(framework.Unschedulable)
	}
	return result, status
}

func nominates(result *framework.PostFilterResult) bool {
	return result != nil && result.NominatingInfo != nil && result.NominatedNodeName != ""
}

// scoreHooks are the hooks of a guest that scores.
type scoreHooks struct{ r *replaceable }

// PreScore implements framework.PreScorePlugin.
func (s scoreHooks) PreScore(ctx context.Context, state *framework.CycleState, pod *v1.Pod, nodes []*framework.NodeInfo) *framework.Status {
	return s.r.enter(ctx, pod, "prescore", false, func(h hooks) *framework.Status {
		return h.score.PreScore(ctx, state, pod, nodes)
	})
}

// Score implements framework.ScorePlugin.
func (s scoreHooks) Score(ctx context.Context, state *framework.CycleState, pod *v1.Pod, nodeName string) (score int64, status *framework.Status) {
	status = s.r.enter(ctx, pod, "score", false, func(h hooks) (st *framework.Status) {
		score, st = h.score.Score(ctx, state, pod, nodeName)
		return st
	})
	return score, status
}

// ScoreExtensions implements framework.ScorePlugin.
func (s scoreHooks) ScoreExtensions() framework.ScoreExtensions {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.r.guest.score.ScoreExtensions() == nil {
		return nil
	}
	return s
}

// NormalizeScore implements framework.ScoreExtensions. The framework finds a
// node's score by its place in the list, which the upstream host does not keep.
func (s scoreHooks) NormalizeScore(ctx context.Context, state *framework.CycleState, pod *v1.Pod, scores framework.NodeScoreList) *framework.Status {
	asked := slices.Clone(scores)
	status := s.r.enter(ctx, pod, "normalizescore", false, func(h hooks) (status *framework.Status) {
		defer func() { // a trap leaves upstream without scores, and it panics for it
			if reason := recover(); reason != nil {
				status = framework.AsStatus(fmt.Errorf("wasm: normalizescore error: %v", reason))
			}
		}()
		return h.score.NormalizeScore(ctx, state, pod, scores)
	})
	if !status.IsSuccess() {
		return status
	}
	return inOrder(scores, asked)
}

// inOrder brings scores into the order of asked, by the nodes' names.
func inOrder(scores, asked framework.NodeScoreList) *framework.Status {
	given := make(map[string]int64, len(scores))
	for _, score := range scores {
		given[score.Name] = score.Score
	}
	for i, node := range asked {
		score, ok := given[node.Name]
		if !ok {
			return framework.AsStatus(fmt.Errorf("wasm: normalizescore left out node %s", node.Name))
		}
		scores[i] = framework.NodeScore{Name: node.Name, Score: score}
	}
	return nil
}
