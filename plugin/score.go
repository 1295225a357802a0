package plugin

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// preferenceKey is where PreScore leaves the rules for Score.
const preferenceKey framework.StateKey = Name + "/preference"

// The scores: the framework's highest and lowest, whose names differ between its minors.
const (
	preferred = 100
	other     = 0
)

// PreScore implements framework.PreScorePlugin. It skips a pod that prefers no nodes, so
// that Score is not called. It compiles no other pattern: PreFilter reports their mistakes.
func (p *Plugin) PreScore(_ context.Context, cycle framework.CycleState, pod *v1.Pod, _ []framework.NodeInfo) *framework.Status {
	rules, err := p.patterns.Compile(pod.Annotations, regex.Prefer)
	if err != nil {
		return framework.AsStatus(err)
	}
	if !rules.Scores() {
		return framework.NewStatus(framework.Skip)
	}
	cycle.Write(preferenceKey, &state{rules: rules})
	return nil
}

// Score implements framework.ScorePlugin: 100 for a node that the pod prefers, 0 for
// another one.
func (p *Plugin) Score(_ context.Context, cycle framework.CycleState, _ *v1.Pod, node framework.NodeInfo) (int64, *framework.Status) {
	data, err := cycle.Read(preferenceKey)
	if err != nil {
		return 0, framework.AsStatus(fmt.Errorf("plugin %s: its PreScore has not run: %w", Name, err))
	}
	if data.(*state).rules.Prefers(node.Node().Name) {
		return preferred, nil
	}
	return other, nil
}

// ScoreExtensions implements framework.ScorePlugin. The scores need no normalizing.
func (*Plugin) ScoreExtensions() framework.ScoreExtensions { return nil }
