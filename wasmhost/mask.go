package wasmhost

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// mask gives r the interfaces that its guest has: the framework finds out by
// type assertion where to call a plugin. Embedding cannot be put together at run
// time, so a guest with one hook of the binding cycle comes with all of them.
func mask(r *replaceable) framework.Plugin {
	filter, score := filterHooks{r}, scoreHooks{r}
	if r.guest.takesPartInBinding() {
		return maskBinding(r, bindingHooks(r.guest), filter, score)
	}
	switch {
	case r.guest.filter != nil && r.guest.score != nil:
		return struct {
			*replaceable
			filterHooks
			scoreHooks
		}{r, filter, score}
	case r.guest.filter != nil:
		return struct {
			*replaceable
			filterHooks
		}{r, filter}
	case r.guest.score != nil:
		return struct {
			*replaceable
			scoreHooks
		}{r, score}
	}
	return r
}

func maskBinding(r *replaceable, binding bindingHooks, filter filterHooks, score scoreHooks) framework.Plugin {
	switch {
	case r.guest.filter != nil && r.guest.score != nil:
		return struct {
			*replaceable
			bindingHooks
			filterHooks
			scoreHooks
		}{r, binding, filter, score}
	case r.guest.filter != nil:
		return struct {
			*replaceable
			bindingHooks
			filterHooks
		}{r, binding, filter}
	case r.guest.score != nil:
		return struct {
			*replaceable
			bindingHooks
			scoreHooks
		}{r, binding, score}
	}
	return struct {
		*replaceable
		bindingHooks
	}{r, binding}
}

// bindingHooks pass the binding cycle on to upstream, which runs it beside the
// next pod's scheduling cycle, and so outside our lock. A hook that the guest
// does not have answers as a plugin that has nothing against it.
type bindingHooks hooks

// Reserve implements framework.ReservePlugin.
func (b bindingHooks) Reserve(ctx context.Context, state *framework.CycleState, pod *v1.Pod, nodeName string) *framework.Status {
	if b.reserve == nil {
		return nil
	}
	return b.reserve.Reserve(ctx, state, pod, nodeName)
}

// Unreserve implements framework.ReservePlugin.
func (b bindingHooks) Unreserve(ctx context.Context, state *framework.CycleState, pod *v1.Pod, nodeName string) {
	if b.reserve != nil {
		b.reserve.Unreserve(ctx, state, pod, nodeName)
	}
}

// Permit implements framework.PermitPlugin.
func (b bindingHooks) Permit(ctx context.Context, state *framework.CycleState, pod *v1.Pod, nodeName string) (*framework.Status, time.Duration) {
	if b.permit == nil {
		return nil, 0
	}
	return b.permit.Permit(ctx, state, pod, nodeName)
}

// PreBind implements framework.PreBindPlugin.
func (b bindingHooks) PreBind(ctx context.Context, state *framework.CycleState, pod *v1.Pod, nodeName string) *framework.Status {
	if b.bind == nil {
		return nil
	}
	return b.bind.PreBind(ctx, state, pod, nodeName)
}

// Bind implements framework.BindPlugin.
func (b bindingHooks) Bind(ctx context.Context, state *framework.CycleState, pod *v1.Pod, nodeName string) *framework.Status {
	if b.bind == nil {
		return framework.NewStatus(framework.Skip)
	}
	return b.bind.Bind(ctx, state, pod, nodeName)
}

// PostBind implements framework.PostBindPlugin.
func (b bindingHooks) PostBind(ctx context.Context, state *framework.CycleState, pod *v1.Pod, nodeName string) {
	if b.bind != nil {
		b.bind.PostBind(ctx, state, pod, nodeName)
	}
}
