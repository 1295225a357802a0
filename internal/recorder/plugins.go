package recorder

import (
	"cmp"
	"context"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/internal/private"
)

// wrapPlugins makes each plugin of a profile report, since the framework returns only
// their common result. Without the private fields plugins seem not to have run, and scores
// not to be normalized.
func (s *session) wrapPlugins(fwk schedframework.Framework) {
	private.WrapPlugins(fwk, func(_ context.Context, c minor.Call) func() { return func() { s.record(c) } })
	if !s.recorder.WithoutRaw {
		private.Wrap(fwk, "scorePlugins", func(p framework.ScorePlugin) framework.ScorePlugin { return recordedScore{p, s} })
	}
}

// pointsByName are the extension points at which verdicts are kept.
var pointsByName = map[string]point{
	"PreFilter": preFilter, "PreScore": preScore, "Reserve": reserve, "Permit": permit, "PreBindPreFlight": preBind, "PreBind": preBind, "Bind": bind,
}

// record keeps the verdict of a plugin on a pod.
func (s *session) record(c minor.Call) {
	at, ok := pointsByName[c.Point]
	status := *c.Status
	rec := s.of(c.Pod)
	if !ok || rec == nil || c.Point == "PreBindPreFlight" && status.IsSuccess() { // PreBind follows
		return
	}
	verdict := PluginVerdict{Plugin: c.Plugin}
	verdict.Verdict, verdict.Reason = verdictOf(status)
	if c.Result != nil {
		verdict.LimitsNodes = status.IsSuccess() && !(*c.Result).AllNodes()
	}
	if c.Timeout != nil {
		verdict.Timeout = *c.Timeout
	}
	if data, err := c.State.Read(naming.Key(c.Plugin)); err == nil {
		if guest, ok := data.(naming.Decider); ok {
			verdict.Guest = guest.Digest()
		}
	}
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	rec.set(at, verdict)
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
