// Package panics has a plugin for tests that panics where a pod's label says.
package panics

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
)

// Label of a pod has one of Points.
const Label = "panics"

// Config is a configuration whose only profile has the plugin everywhere, and first in Bind.
const Config = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Panics}]}, bind: {enabled: [{name: Panics}]}}}]
`

// Points are the extension points at which a pod gets an Error. "Until" is a piece of work that PreFilter does in
// parallel. NormalizeScore needs two nodes.
var Points = []string{
	"PreFilter", "Until", "Filter", "PreScore", "Score", "NormalizeScore", "Reserve", "Permit", "PreBindPreFlight", "PreBind", "Bind",
}

// Harmless are the ones that decide nothing of the pod. For PostFilter and Unreserve the pod is rejected before.
var Harmless = []string{"SignPod", "PostFilter", "PostBind", "Unreserve"}

// Message is the error that the pod gets.
func Message(point string) string {
	return "panicked in wasmkwokwizardry.io/regex-scheduling/internal/testkit/panics.at: in " + point + ", on purpose"
}

// Plugins has the plugin, and FactoryPanics, which cannot be made.
var Plugins = frameworkruntime.Registry{
	"Panics": func(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		p := &plugin{handle: handle}
		p.PreBindPlugin = base{minor.PreFlight{Status: func(fwk.CycleState, *v1.Pod) *fwk.Status { return nil }}}
		p.Around = func(_ context.Context, c minor.Call) func() { return func() { at("PreBindPreFlight", c.Pod) } }
		return p, nil
	},
	"FactoryPanics": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { panic("on purpose") },
}

type plugin struct {
	minor.Called // PreBindPreFlight
	handle       fwk.Handle
}

// base has what [minor.Called] stands around.
type base struct{ minor.PreFlight }

func (base) Name() string { return "Panics" }

func (base) PreBind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	return at("PreBind", pod)
}

func at(point string, pod *v1.Pod) *fwk.Status {
	if is(point, pod) {
		panic("in " + point + ", on purpose")
	}
	return nil
}

func is(point string, pod *v1.Pod) bool { return pod.Labels[Label] == point }

func (*plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{
		Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add},
		QueueingHintFn: func(_ klog.Logger, pod *v1.Pod, _, _ any) (fwk.QueueingHint, error) {
			at("QueueingHint", pod)
			return fwk.QueueSkip, nil
		},
	}}, nil
}

func (*plugin) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, at("SignPod", pod)
}

func (*plugin) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status { return at("PreEnqueue", pod) }

func (p *plugin) PreFilter(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	at("PreFilter", pod)
	p.handle.Parallelizer().Until(ctx, 3, func(int) { at("Until", pod) }, "test")
	return nil, nil
}

func (p *plugin) PreFilterExtensions() fwk.PreFilterExtensions { return p }

func (*plugin) AddPod(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ fwk.PodInfo, _ fwk.NodeInfo) *fwk.Status {
	return at("AddPod", pod)
}

func (*plugin) RemovePod(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ fwk.PodInfo, _ fwk.NodeInfo) *fwk.Status {
	return at("RemovePod", pod)
}

func (*plugin) Filter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ fwk.NodeInfo) *fwk.Status {
	at("Filter", pod)
	if is("PostFilter", pod) || is("QueueingHint", pod) {
		return fwk.NewStatus(fwk.Unschedulable, "as the test wants it")
	}
	return nil
}

func (*plugin) PostFilter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	at("PostFilter", pod)
	return nil, fwk.NewStatus(fwk.Unschedulable)
}

func (*plugin) PreScore(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	return at("PreScore", pod)
}

func (*plugin) Score(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ fwk.NodeInfo) (int64, *fwk.Status) {
	return 0, at("Score", pod)
}

func (p *plugin) ScoreExtensions() fwk.ScoreExtensions { return p }

func (*plugin) NormalizeScore(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ fwk.NodeScoreList) *fwk.Status {
	return at("NormalizeScore", pod)
}

func (*plugin) Reserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	return at("Reserve", pod)
}

func (*plugin) Unreserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) {
	at("Unreserve", pod)
}

func (*plugin) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	at("Permit", pod)
	if is("Unreserve", pod) {
		return fwk.NewStatus(fwk.Unschedulable, "as the test wants it"), 0
	}
	return nil, 0
}

func (*plugin) Bind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	at("Bind", pod)
	return fwk.NewStatus(fwk.Skip)
}

func (*plugin) PostBind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) {
	at("PostBind", pod)
}
