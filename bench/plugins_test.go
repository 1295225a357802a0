package bench

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/plugin"
)

func ofNative() *variant {
	return &variant{
		name: "native",
		open: func(c *cluster) (session, error) {
			pl, err := plugin.New(background, nil, c.Handle)
			if err != nil {
				return nil, err
			}
			return pluginSession(c, pl), nil
		},
		serve: func(testing.TB) string { return withPlugin(plugin.Name) },
	}
}

var background = context.Background()

// inScheduler is a session with a plugin of the framework. It does what
// findNodesThatFitPod of kube-scheduler does, on one goroutine.
type inScheduler struct {
	cluster   *cluster
	prefilter fwk.PreFilterPlugin // nil if it has none
	filter    fwk.FilterPlugin
	state     fwk.CycleState
}

func pluginSession(c *cluster, pl fwk.Plugin) *inScheduler {
	prefilter, _ := pl.(fwk.PreFilterPlugin)
	return &inScheduler{cluster: c, prefilter: prefilter, filter: pl.(fwk.FilterPlugin)}
}

// Cycle implements session.
func (s *inScheduler) Cycle(pod *v1.Pod, feasible []string) ([]string, error) {
	nodes, skip, err := s.begin(pod)
	if skip {
		return s.cluster.names, nil // Filter does not run
	}
	for _, node := range nodes {
		if s.filter.Filter(background, s.state, pod, node).IsSuccess() {
			feasible = append(feasible, node.Node().Name)
		}
	}
	return feasible, err
}

// begin begins a cycle, and returns the nodes that Filter runs on.
func (s *inScheduler) begin(pod *v1.Pod) (nodes []fwk.NodeInfo, skip bool, err error) {
	s.state = framework.NewCycleState()
	if s.prefilter == nil {
		return s.cluster.Nodes, false, nil
	}
	result, status := s.prefilter.PreFilter(background, s.state, pod, s.cluster.Nodes)
	if status.IsSkip() || status.IsRejected() {
		return nil, status.IsSkip(), nil
	}
	if !status.IsSuccess() || result.AllNodes() {
		return s.cluster.Nodes, false, status.AsError()
	}
	for name := range result.NodeNames {
		if node, err := s.cluster.SnapshotSharedLister().NodeInfos().Get(name); err == nil {
			nodes = append(nodes, node)
		}
	}
	return nodes, false, nil
}

// EventsToRegister returns the plugin's events with their hints.
func (s *inScheduler) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	return s.filter.(fwk.EnqueueExtensions).EventsToRegister(ctx)
}

// Close implements session.
func (*inScheduler) Close() error { return nil }
