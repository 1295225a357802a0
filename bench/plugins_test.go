package bench

import (
	"context"
	"regexp"
	"slices"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func ofPlugin(name, pluginName string, factory frameworkruntime.PluginFactory) *door {
	return &door{
		name: name,
		open: func(c *cluster) (session, error) {
			pl, err := factory(background, nil, c.Handle)
			if err != nil {
				return nil, err
			}
			return pluginSession(c, pl), nil
		},
		serve: func(testing.TB) service {
			s := service{config: withPlugin(pluginName)}
			if pluginName != plugin.Name { // which the scheduler has anyway
				s.plugins = frameworkruntime.Registry{pluginName: factory}
			}
			return s
		},
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
		return s.cluster.names, nil // nobody looks at a node
	}
	for _, node := range nodes {
		if s.filter.Filter(background, s.state, pod, node).IsSuccess() {
			feasible = append(feasible, node.Node().Name)
		}
	}
	return feasible, err
}

// begin begins a cycle, and returns the nodes that PreFilter left over.
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

// CycleAmong runs a cycle whose nodes are shared among goroutines. Its verdicts
// are dropped.
func (s *inScheduler) CycleAmong(goroutines int, pod *v1.Pod) error {
	nodes, _, err := s.begin(pod)
	var group sync.WaitGroup
	for share := range slices.Chunk(nodes, max(1, (len(nodes)+goroutines-1)/goroutines)) {
		group.Go(func() {
			for _, node := range share {
				s.filter.Filter(background, s.state, pod, node)
			}
		})
	}
	group.Wait()
	return err
}

// Close implements session.
func (*inScheduler) Close() error { return nil }

// recompile is the policy as a first draft would have it: Filter alone, which
// compiles the pattern for each node.
type recompile struct{}

const recompileName = "Recompile"

func newRecompile(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return recompile{}, nil
}

// Name implements fwk.Plugin.
func (recompile) Name() string { return recompileName }

// Filter implements fwk.FilterPlugin.
func (recompile) Filter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	pattern, found := pod.Annotations[regex.Annotation]
	if !found {
		return nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	if !re.MatchString(node.Node().Name) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) didn't match "+pattern)
	}
	return nil
}
