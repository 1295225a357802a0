package door

import (
	"context"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// plugin is a Session with a plugin of the framework. It does what
// findNodesThatFitPod of kube-scheduler does, on one goroutine or as many as it
// is told.
type plugin struct {
	cluster   *work.Cluster
	prefilter fwk.PreFilterPlugin // nil if it has none
	filter    fwk.FilterPlugin
	state     fwk.CycleState
	filtered  int
}

var background = context.Background()

// preFilter begins a cycle.
func (p *plugin) preFilter(pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status) {
	p.state = framework.NewCycleState()
	if p.prefilter == nil {
		return nil, nil
	}
	return p.prefilter.PreFilter(background, p.state, pod, p.cluster.Infos)
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

// CycleAmong implements Sharer.
func (p *plugin) CycleAmong(goroutines int, pod *v1.Pod) error {
	result, status := p.preFilter(pod)
	if !status.IsSuccess() {
		return status.AsError()
	}
	nodes := p.candidates(result)
	var group sync.WaitGroup
	for share := range slices.Chunk(nodes, (len(nodes)+goroutines-1)/goroutines) {
		group.Go(func() {
			for _, info := range share {
				p.filter.Filter(background, p.state, pod, info)
			}
		})
	}
	group.Wait()
	return nil
}

// candidates are the nodes that PreFilter left over.
func (p *plugin) candidates(result *fwk.PreFilterResult) []fwk.NodeInfo {
	if result.AllNodes() {
		return p.cluster.Infos
	}
	infos := make([]fwk.NodeInfo, 0, len(result.NodeNames))
	for name := range result.NodeNames {
		if info, err := p.cluster.NodeInfos().Get(name); err == nil {
			infos = append(infos, info)
		}
	}
	return infos
}

// Filtered implements Session.
func (p *plugin) Filtered() int { return p.filtered }
