package recorder

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	intree "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
)

// CatchPanics makes errors of panics of plugins that kube-scheduler calls on goroutines of its own,
// where nobody else can: in Filter and PreFilter's extensions, which preemption tries out, and in Score.
// Kubernetes' own plugins are trusted. Without the private fields, nothing is caught there.
func CatchPanics(sched *scheduler.Scheduler) {
	trusted := sets.KeySet(intree.NewInTreeRegistry())
	for _, fwk := range sched.Profiles {
		wrap(fwk, "preFilterPlugins", func(p framework.PreFilterPlugin) framework.PreFilterPlugin {
			if trusted.Has(p.Name()) {
				return p
			}
			return caughtPreFilter{p}
		})
		wrap(fwk, "filterPlugins", func(p framework.FilterPlugin) framework.FilterPlugin {
			if trusted.Has(p.Name()) {
				return p
			}
			return caughtFilter{p}
		})
		wrap(fwk, "scorePlugins", func(p framework.ScorePlugin) framework.ScorePlugin {
			if trusted.Has(p.Name()) {
				return p
			}
			return caughtScore{p}
		})
	}
}

func caught(status **framework.Status) {
	if reason := recover(); reason != nil {
		*status = framework.AsStatus(fmt.Errorf("a plugin panicked: %v", reason))
	}
}

type caughtPreFilter struct{ framework.PreFilterPlugin }

func (c caughtPreFilter) PreFilterExtensions() framework.PreFilterExtensions {
	if next := c.PreFilterPlugin.PreFilterExtensions(); next != nil {
		return caughtExtensions{next}
	}
	return nil
}

type caughtExtensions struct{ next framework.PreFilterExtensions }

func (c caughtExtensions) AddPod(ctx context.Context, state framework.CycleState, pod *v1.Pod, added framework.PodInfo, node framework.NodeInfo) (status *framework.Status) {
	defer caught(&status)
	return c.next.AddPod(ctx, state, pod, added, node)
}

func (c caughtExtensions) RemovePod(ctx context.Context, state framework.CycleState, pod *v1.Pod, removed framework.PodInfo, node framework.NodeInfo) (status *framework.Status) {
	defer caught(&status)
	return c.next.RemovePod(ctx, state, pod, removed, node)
}

type caughtFilter struct{ framework.FilterPlugin }

func (c caughtFilter) Filter(ctx context.Context, state framework.CycleState, pod *v1.Pod, node framework.NodeInfo) (status *framework.Status) {
	defer caught(&status)
	return c.FilterPlugin.Filter(ctx, state, pod, node)
}

type caughtScore struct{ framework.ScorePlugin }

func (c caughtScore) Score(ctx context.Context, state framework.CycleState, pod *v1.Pod, node framework.NodeInfo) (score int64, status *framework.Status) {
	defer caught(&status)
	return c.ScorePlugin.Score(ctx, state, pod, node)
}

func (c caughtScore) ScoreExtensions() framework.ScoreExtensions {
	if next := c.ScorePlugin.ScoreExtensions(); next != nil {
		return caughtNormalize{next}
	}
	return nil
}

type caughtNormalize struct{ next framework.ScoreExtensions }

func (c caughtNormalize) NormalizeScore(ctx context.Context, state framework.CycleState, pod *v1.Pod, scores framework.NodeScoreList) (status *framework.Status) {
	defer caught(&status)
	return c.next.NormalizeScore(ctx, state, pod, scores)
}
