package private

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
)

// WrapPlugins puts something around each call of a profile's plugins, but the ones that are made for each node, and by
// the queue. Without the private fields it does not.
func WrapPlugins(profile any, around minor.Around) {
	Wrap(profile, "preFilterPlugins", func(p fwk.PreFilterPlugin) fwk.PreFilterPlugin { return preFilter{p, around} })
	Wrap(profile, "postFilterPlugins", func(p fwk.PostFilterPlugin) fwk.PostFilterPlugin { return postFilter{p, around} })
	Wrap(profile, "preScorePlugins", func(p fwk.PreScorePlugin) fwk.PreScorePlugin { return preScore{p, around} })
	Wrap(profile, "reservePlugins", func(p fwk.ReservePlugin) fwk.ReservePlugin { return reserve{p, around} })
	Wrap(profile, "permitPlugins", func(p fwk.PermitPlugin) fwk.PermitPlugin { return permit{p, around} })
	Wrap(profile, "preBindPlugins", func(p fwk.PreBindPlugin) fwk.PreBindPlugin {
		return preBind{minor.Called{PreBindPlugin: p, Around: around}}
	})
	Wrap(profile, "bindPlugins", func(p fwk.BindPlugin) fwk.BindPlugin { return bind{p, around} })
	Wrap(profile, "postBindPlugins", func(p fwk.PostBindPlugin) fwk.PostBindPlugin { return postBind{p, around} })
	Wrap(profile, "batchablePlugins", func(p fwk.SignPlugin) fwk.SignPlugin { return sign{p, around} })
}

type preFilter struct {
	fwk.PreFilterPlugin
	around minor.Around
}

func (p preFilter) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer p.around(ctx, minor.Call{Plugin: p.Name(), Point: "PreFilter", State: state, Pod: pod, Status: &status, Result: &result})()
	return p.PreFilterPlugin.PreFilter(ctx, state, pod, nodes)
}

func (p preFilter) PreFilterExtensions() fwk.PreFilterExtensions {
	next := p.PreFilterPlugin.PreFilterExtensions()
	if next == nil {
		return nil
	}
	return extensions{next, p}
}

type extensions struct {
	fwk.PreFilterExtensions
	of preFilter
}

func (e extensions) AddPod(ctx context.Context, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, node fwk.NodeInfo) (status *fwk.Status) {
	defer e.of.around(ctx, minor.Call{Plugin: e.of.Name(), Point: "AddPod", State: state, Pod: pod, Status: &status})()
	return e.PreFilterExtensions.AddPod(ctx, state, pod, added, node)
}

func (e extensions) RemovePod(ctx context.Context, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, node fwk.NodeInfo) (status *fwk.Status) {
	defer e.of.around(ctx, minor.Call{Plugin: e.of.Name(), Point: "RemovePod", State: state, Pod: pod, Status: &status})()
	return e.PreFilterExtensions.RemovePod(ctx, state, pod, removed, node)
}

type postFilter struct {
	fwk.PostFilterPlugin
	around minor.Around
}

func (p postFilter) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (result *fwk.PostFilterResult, status *fwk.Status) {
	defer p.around(ctx, minor.Call{Plugin: p.Name(), Point: "PostFilter", State: state, Pod: pod, Status: &status})()
	return p.PostFilterPlugin.PostFilter(ctx, state, pod, nodes)
}

type preScore struct {
	fwk.PreScorePlugin
	around minor.Around
}

func (p preScore) PreScore(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (status *fwk.Status) {
	defer p.around(ctx, minor.Call{Plugin: p.Name(), Point: "PreScore", State: state, Pod: pod, Status: &status})()
	return p.PreScorePlugin.PreScore(ctx, state, pod, nodes)
}

type reserve struct {
	fwk.ReservePlugin
	around minor.Around
}

func (p reserve) Reserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer p.around(ctx, minor.Call{Plugin: p.Name(), Point: "Reserve", State: state, Pod: pod, Status: &status})()
	return p.ReservePlugin.Reserve(ctx, state, pod, node)
}

func (p reserve) Unreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	defer p.around(ctx, minor.Call{Plugin: p.Name(), Point: "Unreserve", State: state, Pod: pod, Status: new(*fwk.Status)})()
	p.ReservePlugin.Unreserve(ctx, state, pod, node)
}

type permit struct {
	fwk.PermitPlugin
	around minor.Around
}

func (p permit) Permit(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status, timeout time.Duration) {
	defer p.around(ctx, minor.Call{Plugin: p.Name(), Point: "Permit", State: state, Pod: pod, Status: &status, Timeout: &timeout})()
	return p.PermitPlugin.Permit(ctx, state, pod, node)
}

type preBind struct{ minor.Called }

func (p preBind) PreBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer p.Around(ctx, minor.Call{Plugin: p.Name(), Point: "PreBind", State: state, Pod: pod, Status: &status})()
	return p.PreBindPlugin.PreBind(ctx, state, pod, node)
}

type bind struct {
	fwk.BindPlugin
	around minor.Around
}

func (p bind) Bind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer p.around(ctx, minor.Call{Plugin: p.Name(), Point: "Bind", State: state, Pod: pod, Status: &status})()
	return p.BindPlugin.Bind(ctx, state, pod, node)
}

type postBind struct {
	fwk.PostBindPlugin
	around minor.Around
}

func (p postBind) PostBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	defer p.around(ctx, minor.Call{Plugin: p.Name(), Point: "PostBind", State: state, Pod: pod, Status: new(*fwk.Status)})()
	p.PostBindPlugin.PostBind(ctx, state, pod, node)
}

type sign struct {
	fwk.SignPlugin
	around minor.Around
}

func (p sign) SignPod(ctx context.Context, pod *v1.Pod) (parts []fwk.SignFragment, status *fwk.Status) {
	defer p.around(ctx, minor.Call{Plugin: p.Name(), Point: "SignPod", Pod: pod, Status: &status})()
	return p.SignPlugin.SignPod(ctx, pod)
}
