package recorder

import (
	"cmp"
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/private"
)

// wrapPlugins makes each plugin of a profile report, since the framework returns only
// their common result. Without the private fields plugins seem not to have run, and scores
// not to be normalized.
func (s *session) wrapPlugins(fwk schedframework.Framework) {
	private.Wrap(fwk, "preFilterPlugins", func(p framework.PreFilterPlugin) framework.PreFilterPlugin { return recordedPreFilter{p, s} })
	private.Wrap(fwk, "preScorePlugins", func(p framework.PreScorePlugin) framework.PreScorePlugin { return recordedPreScore{p, s} })
	if !s.recorder.WithoutRaw {
		private.Wrap(fwk, "scorePlugins", func(p framework.ScorePlugin) framework.ScorePlugin { return recordedScore{p, s} })
	}
	private.Wrap(fwk, "reservePlugins", func(p framework.ReservePlugin) framework.ReservePlugin { return recordedReserve{p, s} })
	private.Wrap(fwk, "permitPlugins", func(p framework.PermitPlugin) framework.PermitPlugin { return recordedPermit{p, s} })
	private.Wrap(fwk, "preBindPlugins", func(p framework.PreBindPlugin) framework.PreBindPlugin { return s.recordedPreBind(p) })
	private.Wrap(fwk, "bindPlugins", func(p framework.BindPlugin) framework.BindPlugin { return recordedBind{p, s} })
}

// record keeps the verdict of a plugin on a pod.
func (s *session) record(p point, pod *v1.Pod, verdict PluginVerdict) {
	rec := s.of(pod)
	if rec != nil {
		s.recorder.mu.Lock()
		defer s.recorder.mu.Unlock()
		rec.set(p, verdict)
	}
}

func pluginVerdict(plugin framework.Plugin, status *framework.Status) PluginVerdict {
	verdict, reason := verdictOf(status)
	return PluginVerdict{Plugin: plugin.Name(), Verdict: verdict, Reason: reason}
}

type recordedPreFilter struct {
	framework.PreFilterPlugin
	session *session
}

func (r recordedPreFilter) PreFilter(ctx context.Context, state framework.CycleState, pod *v1.Pod, nodes []framework.NodeInfo) (*framework.PreFilterResult, *framework.Status) {
	result, status := r.PreFilterPlugin.PreFilter(ctx, state, pod, nodes)
	verdict := pluginVerdict(r, status)
	verdict.LimitsNodes = status.IsSuccess() && !result.AllNodes()
	r.session.record(preFilter, pod, verdict)
	return result, status
}

type recordedPreScore struct {
	framework.PreScorePlugin
	session *session
}

func (r recordedPreScore) PreScore(ctx context.Context, state framework.CycleState, pod *v1.Pod, nodes []framework.NodeInfo) *framework.Status {
	status := r.PreScorePlugin.PreScore(ctx, state, pod, nodes)
	r.session.record(preScore, pod, pluginVerdict(r, status))
	return status
}

// recordedScore reports the scores before they are normalized.
type recordedScore struct {
	framework.ScorePlugin
	session *session
}

func (r recordedScore) ScoreExtensions() framework.ScoreExtensions {
	next := r.ScorePlugin.ScoreExtensions()
	if next != nil {
		return recordedNormalize{next, r}
	}
	return nil
}

type recordedNormalize struct {
	framework.ScoreExtensions
	of recordedScore
}

// NormalizeScore runs on a goroutine for each plugin.
func (r recordedNormalize) NormalizeScore(ctx context.Context, state framework.CycleState, pod *v1.Pod, list framework.NodeScoreList) *framework.Status {
	c := r.of.session.current.Load()
	if c != nil {
		raw := make([]int64, len(list))
		for i, score := range list {
			raw[i] = score.Score
		}
		c.mu.Lock()
		c.raw[r.of.Name()] = raw
		c.mu.Unlock()
	}
	return r.ScoreExtensions.NormalizeScore(ctx, state, pod, list)
}

type recordedReserve struct {
	framework.ReservePlugin
	session *session
}

func (r recordedReserve) Reserve(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) *framework.Status {
	status := r.ReservePlugin.Reserve(ctx, state, pod, node)
	r.session.record(reserve, pod, pluginVerdict(r, status))
	return status
}

type recordedPermit struct {
	framework.PermitPlugin
	session *session
}

func (r recordedPermit) Permit(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) (*framework.Status, time.Duration) {
	status, timeout := r.PermitPlugin.Permit(ctx, state, pod, node)
	verdict := pluginVerdict(r, status)
	verdict.Timeout = timeout
	r.session.record(permit, pod, verdict)
	return status, timeout
}

type recordedPreBind struct {
	minor.Asked
	session *session
}

func (s *session) recordedPreBind(p framework.PreBindPlugin) recordedPreBind {
	return recordedPreBind{minor.Asked{PreBindPlugin: p, Around: func(_ context.Context, pod *v1.Pod, ask func() *framework.Status) *framework.Status {
		status := ask()
		if !status.IsSuccess() { // else PreBind follows
			s.record(preBind, pod, pluginVerdict(p, status))
		}
		return status
	}}, s}
}

func (r recordedPreBind) PreBind(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) *framework.Status {
	status := r.PreBindPlugin.PreBind(ctx, state, pod, node)
	r.session.record(preBind, pod, pluginVerdict(r, status))
	return status
}

type recordedBind struct {
	framework.BindPlugin
	session *session
}

func (r recordedBind) Bind(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) *framework.Status {
	status := r.BindPlugin.Bind(ctx, state, pod, node)
	r.session.record(bind, pod, pluginVerdict(r, status))
	return status
}

// recordedExtender reports the verdicts and scores of an extender.
type recordedExtender struct {
	framework.Extender
	session   *session
	key, name string
}

func (e *recordedExtender) Filter(pod *v1.Pod, nodes []framework.NodeInfo) ([]framework.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	left, failed, unresolvable, err := e.Extender.Filter(pod, nodes)
	if e.session.current.Load() == nil || !e.IsFilter() || err != nil && e.IsIgnorable() {
		return left, failed, unresolvable, err
	}
	passed := make(map[string]bool, len(left))
	for _, node := range left {
		passed[node.Node().Name] = true
	}
	for _, node := range nodes {
		name := node.Node().Name
		switch {
		case err != nil:
			e.session.set(node, framework.AsStatus(err).WithPlugin(e.key))
		case !passed[name]:
			reason := cmp.Or(unresolvable[name], failed[name], noReason)
			e.session.set(node, framework.NewStatus(framework.Unschedulable, reason).WithPlugin(e.key))
		}
	}
	return left, failed, unresolvable, err
}

const noReason = "the extender rejected it without a reason"

// Prioritize runs on a goroutine for each extender.
func (e *recordedExtender) Prioritize(pod *v1.Pod, nodes []framework.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	list, weight, err := e.Extender.Prioritize(pod, nodes)
	c := e.session.current.Load()
	if err == nil && list != nil && c != nil && e.IsPrioritizer() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.scoring != nil {
			c.scoring.add(e.name, weight, *list)
		}
	}
	return list, weight, err
}
