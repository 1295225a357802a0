package door

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// plugin is a Session with a plugin of the framework. It does what
// findNodesThatFitPod of kube-scheduler does, without its sixteen goroutines:
// the host of the guests admits one call at a time anyway.
type plugin struct {
	cluster   *work.Cluster
	prefilter framework.PreFilterPlugin // nil if it has none
	filter    framework.FilterPlugin
	state     *framework.CycleState
	filtered  int
}

var background = context.Background()

// preFilter begins a cycle.
func (p *plugin) preFilter(pod *v1.Pod) (*framework.PreFilterResult, *framework.Status) {
	p.state = framework.NewCycleState()
	if p.prefilter == nil {
		return nil, nil
	}
	return p.prefilter.PreFilter(background, p.state, pod)
}

// Cycle implements Session.
func (p *plugin) Cycle(pod *v1.Pod, feasible []string) ([]string, error) {
	p.filtered = 0
	result, status := p.preFilter(pod)
	if status.IsSkip() {
		return p.cluster.Names, nil // nobody looks at a node
	}
	if status.IsRejected() {
		return feasible, nil
	}
	if !status.IsSuccess() {
		return feasible, status.AsError()
	}
	for _, info := range p.candidates(result) {
		p.filtered++
		status := p.filter.Filter(background, p.state, pod, info)
		if status.IsSuccess() {
			feasible = append(feasible, info.Node().Name)
		}
	}
	return feasible, nil
}

// candidates are the nodes that PreFilter left over.
func (p *plugin) candidates(result *framework.PreFilterResult) []*framework.NodeInfo {
	if result.AllNodes() {
		return p.cluster.Infos
	}
	infos := make([]*framework.NodeInfo, 0, len(result.NodeNames))
	for name := range result.NodeNames {
		if info, err := p.cluster.NodeInfos().Get(name); err == nil {
			infos = append(infos, info)
		}
	}
	return infos
}

// Filtered implements Session.
func (p *plugin) Filtered() int { return p.filtered }
