package recorder

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
)

// recordedFramework reports what a profile does with a pod. Plugins have the framework
// inside of it as their handle, so that preemption's dry runs are not recorded.
type recordedFramework struct {
	schedframework.Framework
	session *session
	listed  types.NamespacedName // the pod that the scheduler's list of scored nodes is from
}

func (f *recordedFramework) RunPreFilterPlugins(ctx context.Context, state framework.CycleState, pod *v1.Pod) (*framework.PreFilterResult, *framework.Status, sets.Set[string]) {
	c := f.session.current.Load()
	sparse := f.session.recorder.sparse
	if c != nil && !sparse {
		f.session.look(c, f.Framework)
	}
	result, status, limiting := f.Framework.RunPreFilterPlugins(ctx, state, pod)
	if c != nil {
		plugins := sets.List(limiting) // the scheduler adds to it later
		c.exclude = func() { f.exclude(c, state, result, status, plugins) }
		if !sparse {
			c.exclude()
		}
		if !status.IsSuccess() && status.Plugin() == "" {
			f.session.recorder.update(func() { c.rec.noNodeLeft(status) })
		}
	}
	return result, status, limiting
}

// noNodeLeft gives the verdict to the last of the plugins that name nodes: they have no
// node in common.
func (r *record) noNodeLeft(status *framework.Status) {
	list := r.verdicts[preFilter]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].LimitsNodes {
			list[i].Verdict, list[i].Reason = verdictOf(status)
			return
		}
	}
}

// exclude records the nodes that no Filter will run on, and why.
func (f *recordedFramework) exclude(c *cycle, state framework.CycleState, result *framework.PreFilterResult, status *framework.Status, limiting []string) {
	all := &f.session.nodes
	var named sets.Set[string]
	var plugin, reason string
	switch {
	case !status.IsSuccess():
		plugin, reason = status.Plugin(), status.Message()
	case !result.AllNodes():
		named = result.NodeNames
		reason = cmp.Or(naming.NotNamed(state, limiting), fmt.Sprintf("PreFilter of %v names other nodes", limiting))
	default:
		return
	}
	if len(limiting) == 1 {
		plugin = limiting[0]
	}
	reason = strings.TrimPrefix(reason, fmt.Sprintf("%d ", len(all.places)-len(named))) // the count is shown beside it
	for _, place := range all.places {
		if !named.Has(all.names[place]) {
			f.session.verdicts[place] = nodeVerdict{verdict: Excluded, column: c.rec.profile.columnOf(plugin), reason: reason}
		}
	}
}

// RunFilterPluginsWithNominatedPods is called for many nodes at once.
func (f *recordedFramework) RunFilterPluginsWithNominatedPods(ctx context.Context, state framework.CycleState, pod *v1.Pod, node framework.NodeInfo) *framework.Status {
	return f.filtered(node, f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node))
}

// RunFilterPlugins is called in its place where no pod is nominated.
func (f *recordedFramework) RunFilterPlugins(ctx context.Context, state framework.CycleState, pod *v1.Pod, node framework.NodeInfo) *framework.Status {
	return f.filtered(node, f.Framework.RunFilterPlugins(ctx, state, pod, node))
}

func (f *recordedFramework) filtered(node framework.NodeInfo, status *framework.Status) *framework.Status {
	if !f.session.recorder.sparse {
		f.session.set(node, status)
	}
	return status
}

func (f *recordedFramework) RunPostFilterPlugins(ctx context.Context, state framework.CycleState, pod *v1.Pod, nodes framework.NodeToStatusReader) (*framework.PostFilterResult, *framework.Status) {
	rec := f.session.of(pod)
	if rec != nil {
		f.session.recorder.update(func() { rec.preempts = true })
	}
	result, status := f.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
	if rec != nil {
		f.session.recorder.update(func() {
			rec.PostFilter, rec.nominated = f.postFilter(status), nominated(result)
			rec.preempts = rec.nominated != ""
		})
	}
	return result, status
}

func (f *recordedFramework) postFilter(status *framework.Status) *PluginVerdict {
	v := &PluginVerdict{}
	v.Verdict, v.Reason = verdictOf(status)
	enabled := f.ListPlugins().PostFilter.Enabled
	if len(enabled) == 1 {
		v.Plugin = enabled[0].Name
	}
	// Unschedulable has the reasons of all the plugins, under the name of the first.
	if !status.IsSuccess() && status.Code() != framework.Unschedulable {
		v.Plugin = status.Plugin()
	}
	return v
}

func (f *recordedFramework) RunScorePlugins(ctx context.Context, state framework.CycleState, pod *v1.Pod, nodes []framework.NodeInfo) ([]framework.NodePluginScores, *framework.Status) {
	result, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	c := f.session.current.Load()
	if c != nil && status.IsSuccess() {
		c.scoring = f.session.newScoring(c, nodes, result)
	}
	return result, status
}

// StoreScheduleResults is called when a node is chosen. If that is the hinted one, no
// other was evaluated.
func (f *recordedFramework) StoreScheduleResults(ctx context.Context, signature framework.PodSignature, hinted, chosen string, others schedframework.SortedScoredNodes, cycle int64) {
	f.Framework.StoreScheduleResults(ctx, signature, hinted, chosen, others, cycle)
	c := f.session.current.Load()
	switch {
	case c == nil:
	case hinted == chosen:
		hint := &Hint{Node: hinted, Pod: f.listed.String()}
		f.session.recorder.update(func() { c.rec.Hint = hint })
	default:
		f.listed = c.rec.pod()
	}
}

func (f *recordedFramework) RunPostBindPlugins(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) {
	f.Framework.RunPostBindPlugins(ctx, state, pod, node)
	f.session.bound(pod, node)
}

var _ schedframework.Framework = (*recordedFramework)(nil)
