package engine

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// binding is a binding cycle, which kube-scheduler runs on a goroutine of its own. The
// engine holds it back at its beginning, lets one after the other go on, and awaits its
// end, which is its context's.
type binding struct {
	pod      *v1.Pod
	of       framework.Framework
	began    chan context.Context // gets that of the cycle, once
	released chan struct{}
	giveUp   func() // ends PreBind
	gaveUp   bool
}

// expectBinding is called when a pod has its place on a node: its binding cycle follows,
// unless a Permit plugin rejects the pod.
func (e *Engine) expectBinding(of framework.Framework, pod *v1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := &binding{pod: pod, of: of, began: make(chan context.Context, 1), released: make(chan struct{})}
	e.bindings[pod.UID], e.unreleased = b, append(e.unreleased, b)
}

// dropBinding forgets a binding cycle that has not begun.
func (e *Engine) dropBinding(pod types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.bindings[pod]
	if b != nil {
		delete(e.bindings, pod)
		select {
		case <-b.released:
		default:
			e.unreleased = slices.DeleteFunc(e.unreleased, func(other *binding) bool { return other == b })
		}
	}
}

// hold is called by the first two steps of a binding cycle.
func (e *Engine) hold(ctx context.Context, pod *v1.Pod) {
	e.mu.Lock()
	b := e.bindings[pod.UID]
	e.mu.Unlock()
	if b == nil {
		return
	}
	select {
	case b.began <- ctx:
	default: // by the step before
	}
	<-b.released
}

// finishBindings runs the binding cycles that need not wait, in the order in which
// their pods got nodes. One can let another go on.
func (e *Engine) finishBindings() {
	for {
		at := slices.IndexFunc(e.unreleased, func(b *binding) bool { return permitted(b) })
		if at < 0 {
			return
		}
		e.finish(at)
	}
}

// permitted is true if no Permit plugin holds the pod back any more.
func permitted(b *binding) bool {
	waiting := b.of.GetWaitingPod(b.pod.UID)
	return waiting == nil || len(waiting.GetPendingPlugins()) == 0
}

func (e *Engine) finish(at int) {
	b := e.unreleased[at]
	e.unreleased = slices.Delete(e.unreleased, at, at+1)
	close(b.released)
	<-(<-b.began).Done()
	e.mu.Lock()
	delete(e.bindings, b.pod.UID)
	e.mu.Unlock()
}

// timeOut ends the wait of the first pod that Permit plugins have wait, as the time would.
func (e *Engine) timeOut() bool {
	if len(e.unreleased) == 0 {
		return false
	}
	b := e.unreleased[0]
	waiting := b.of.GetWaitingPod(b.pod.UID)
	if waiting != nil {
		plugins := waiting.GetPendingPlugins()
		slices.Sort(plugins)
		if len(plugins) > 0 {
			waiting.Reject(plugins[0], fmt.Sprintf("rejected: nothing made plugin %s let it go on before its time was over", plugins[0]))
		}
	}
	e.finish(0)
	e.finishBindings()
	return true
}

// profile is the engine in a profile of the scheduler. Its plugins are given the framework in it.
type profile struct {
	framework.Framework
	engine *Engine
}

// RunPreBindPreFlights comes first in a binding cycle, if it comes.
func (p *profile) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	p.engine.hold(ctx, pod)
	return p.Framework.RunPreBindPreFlights(ctx, state, pod, node)
}

// WaitOnPermit comes next.
func (p *profile) WaitOnPermit(ctx context.Context, pod *v1.Pod) *fwk.Status {
	p.engine.hold(ctx, pod)
	return p.Framework.WaitOnPermit(ctx, pod)
}

// RunReservePluginsReserve binds the volumes of a pod first, so that nothing waits for them.
func (p *profile) RunReservePluginsReserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	p.engine.bindVolumes(p.Framework, pod, node)
	status := p.Framework.RunReservePluginsReserve(ctx, state, pod, node)
	if status.IsSuccess() {
		p.engine.expectBinding(p.Framework, pod)
	}
	return status
}

// RunPreBindPlugins waits for no device: a real driver would fulfil its conditions.
func (p *profile) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	p.engine.mu.Lock()
	b := p.engine.bindings[pod.UID]
	p.engine.mu.Unlock()
	if b == nil {
		return p.Framework.RunPreBindPlugins(ctx, state, pod, node)
	}
	ctx, b.giveUp = context.WithCancel(ctx)
	defer b.giveUp()
	status := p.Framework.RunPreBindPlugins(ctx, state, pod, node)
	if b.gaveUp && !status.IsSuccess() {
		p.engine.Cluster.Unmodelled("fulfil the bindingConditions of devices")
		return fwk.NewStatus(fwk.Unschedulable, "its devices wait for their bindingConditions").WithPlugin(names.DynamicResources)
	}
	return status
}

// awaitsDevice notes that the binding of a pod needs its driver.
func (e *Engine) awaitsDevice(pod types.UID) {
	e.mu.Lock()
	b := e.bindings[pod]
	e.mu.Unlock()
	if b != nil {
		b.gaveUp = true
		b.giveUp()
	}
}

// RunReservePluginsUnreserve implements framework.Framework.
func (p *profile) RunReservePluginsUnreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	p.Framework.RunReservePluginsUnreserve(ctx, state, pod, node)
	p.engine.mu.Lock()
	p.engine.freed++
	p.engine.mu.Unlock()
	p.engine.dropBinding(pod.UID)
	p.engine.unbindVolumes(pod)
}

// RunPostBindPlugins comes last.
func (p *profile) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	p.Framework.RunPostBindPlugins(ctx, state, pod, node)
	p.engine.bound(pod, node)
}

// bindVolumes binds the volumes of a pod for which that is the scheduler's to do.
func (e *Engine) bindVolumes(of framework.Framework, pod *v1.Pod, node string) {
	if len(pod.Spec.Volumes) == 0 || !slices.ContainsFunc(of.ListPlugins().PreBind.Enabled, func(p config.Plugin) bool { return p.Name == names.VolumeBinding }) {
		return
	}
	undo := e.Cluster.BindVolumes(pod, node)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.volumes[pod.UID] = undo
}

func (e *Engine) unbindVolumes(pod *v1.Pod) {
	e.mu.Lock()
	undo := e.volumes[pod.UID]
	delete(e.volumes, pod.UID)
	e.mu.Unlock()
	if undo != nil {
		undo()
	}
}

// bound takes note of a pod that has its node.
func (e *Engine) bound(pod *v1.Pod, node string) {
	e.mu.Lock()
	o := e.outcome(cluster.NameOf(pod))
	o.Attempts++
	o.State, o.Node, o.Message = Scheduled, node, ""
	delete(e.volumes, pod.UID)
	delete(e.tries, pod.UID)
	e.progress++
	e.mu.Unlock()
	if e.OnAttempt != nil {
		e.OnAttempt(cluster.NameOf(pod))
	}
}
