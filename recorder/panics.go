package recorder

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
	intree "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
)

// CatchPanics turns panics of plugins into errors where kube-scheduler calls them on its own
// goroutines: in Filter, Score and PreFilter's extensions, which preemption's dry runs use.
// It does not wrap Kubernetes' own plugins. Without the private fields it catches nothing.
func CatchPanics(sched *scheduler.Scheduler) {
	for _, fwk := range sched.Profiles {
		wrapForeign(fwk, "preFilterPlugins", func(p framework.PreFilterPlugin) framework.PreFilterPlugin { return caughtPreFilter{p} })
		wrapForeign(fwk, "filterPlugins", func(p framework.FilterPlugin) framework.FilterPlugin { return caughtFilter{p} })
		wrapForeign(fwk, "scorePlugins", func(p framework.ScorePlugin) framework.ScorePlugin { return caughtScore{p} })
	}
}

var inTree = sets.KeySet(intree.NewInTreeRegistry())

func wrapForeign[P framework.Plugin](fwk schedframework.Framework, field string, caught func(P) P) {
	wrap(fwk, field, func(p P) P {
		if inTree.Has(p.Name()) {
			return p
		}
		return caught(p)
	})
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
