package wasmhost

import (
	"context"
	"fmt"
	"io"

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
)

// binds reports whether a plugin takes part in the binding cycle.
func binds(pl framework.Plugin) bool {
	switch pl.(type) {
	case framework.ReservePlugin, framework.PermitPlugin, framework.BindPlugin:
		return true
	}
	return false
}

func hooksOf(pl framework.Plugin) hooks {
	h := hooks{closer: pl.(io.Closer), prefilter: pl.(framework.PreFilterPlugin)}
	h.filter, _ = pl.(filterPlugin)
	h.score, _ = pl.(scorePlugin)
	return h
}

// mask gives r the interfaces that its guest has.
func mask(r *replaceable) framework.Plugin {
	filter, score := filterHooks{r}, scoreHooks{r}
	switch {
	case r.guest.filter != nil && r.guest.score != nil:
		return struct {
			*replaceable
			filterHooks
			scoreHooks
		}{r, filter, score}
	case r.guest.filter != nil:
		return struct {
			*replaceable
			filterHooks
		}{r, filter}
	case r.guest.score != nil:
		return struct {
			*replaceable
			scoreHooks
		}{r, score}
	}
	return r
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
func (f filterHooks) PostFilter(ctx context.Context, state *framework.CycleState, pod *v1.Pod, nodes framework.NodeToStatusMap) (result *framework.PostFilterResult, status *framework.Status) {
	status = f.r.enter(ctx, pod, "postfilter", false, func(h hooks) (s *framework.Status) {
		result, s = h.filter.PostFilter(ctx, state, pod, nodes)
		return s
	})
	return result, status
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

// NormalizeScore implements framework.ScoreExtensions.
func (s scoreHooks) NormalizeScore(ctx context.Context, state *framework.CycleState, pod *v1.Pod, scores framework.NodeScoreList) *framework.Status {
	return s.r.enter(ctx, pod, "normalizescore", false, func(h hooks) (status *framework.Status) {
		defer func() { // a trap leaves upstream without scores, and it panics for it
			if reason := recover(); reason != nil {
				status = framework.AsStatus(fmt.Errorf("wasm: normalizescore error: %v", reason))
			}
		}()
		return h.score.NormalizeScore(ctx, state, pod, scores)
	})
}
