package scheduling

import (
	"context"
	"fmt"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// bindings are the binding cycles of pods that have a place on a node.
type bindings struct {
	mu         sync.Mutex
	byPod      map[types.UID]*binding
	unreleased []*binding // by the order in which their pods got nodes
	closed     context.Context
	close      context.CancelFunc // ends the binding cycles that nothing has released
}

// binding is a binding cycle, which kube-scheduler runs on a goroutine of its own. It stops at its beginning until finish releases
// it and waits for its end, at which its context is done.
type binding struct {
	pod           *v1.Pod
	of            framework.Framework
	began         chan context.Context // gets that of the cycle, once
	released      chan struct{}
	unbindVolumes func() // takes back what Reserve has bound, or nil
	cancelPreBind func()
	awaitsDriver  bool
}

func newBindings() *bindings {
	b := &bindings{byPod: map[types.UID]*binding{}}
	b.closed, b.close = context.WithCancel(context.Background())
	return b
}

func (b *bindings) of(pod *v1.Pod) *binding {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byPod[pod.UID]
}

// reserve begins with the volumes of a pod, if the scheduler has the plugin that binds them, so that its binding cycle waits for none.
func (b *bindings) reserve(of framework.Framework, c *cluster.Cluster, pod *v1.Pod, node string) *binding {
	one := &binding{pod: pod, of: of, began: make(chan context.Context, 1), released: make(chan struct{})}
	binds := func(p config.Plugin) bool { return p.Name == names.VolumeBinding }
	if len(pod.Spec.Volumes) > 0 && slices.ContainsFunc(of.ListPlugins().PreBind.Enabled, binds) {
		one.unbindVolumes = c.BindVolumes(pod, node)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byPod[pod.UID] = one
	return one
}

// expect is called when a pod has its place on a node: its binding cycle follows, unless a Permit plugin rejects the pod.
func (b *bindings) expect(one *binding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unreleased = append(b.unreleased, one)
}

// unreserve takes back what reserve has done, whether the binding cycle has begun or not.
func (b *bindings) unreserve(pod *v1.Pod) {
	b.mu.Lock()
	one := b.byPod[pod.UID]
	delete(b.byPod, pod.UID)
	b.unreleased = slices.DeleteFunc(b.unreleased, func(other *binding) bool { return other == one })
	b.mu.Unlock()
	if one != nil && one.unbindVolumes != nil {
		one.unbindVolumes()
	}
}

// awaitRelease is called by the first two steps of a binding cycle. It fails if the scheduler is closed first.
func (b *bindings) awaitRelease(ctx context.Context, pod *v1.Pod) *fwk.Status {
	one := b.of(pod)
	if one == nil {
		return nil
	}
	select {
	case one.began <- ctx:
	default: // by the step before
	}
	select {
	case <-one.released:
		return nil
	case <-b.closed.Done():
		return fwk.AsStatus(b.closed.Err())
	}
}

// finishPermitted runs the binding cycles that wait for no Permit plugin, one after the other. One can permit another.
func (b *bindings) finishPermitted() {
	for {
		b.mu.Lock()
		at := slices.IndexFunc(b.unreleased, func(one *binding) bool { return len(one.pendingPlugins()) == 0 })
		if at < 0 {
			b.mu.Unlock()
			return
		}
		one := b.unreleased[at]
		b.mu.Unlock()
		b.finish(one)
	}
}

// pendingPlugins are the Permit plugins that have not permitted the pod.
func (b *binding) pendingPlugins() []string {
	waiting := b.of.GetWaitingPod(b.pod.UID)
	if waiting == nil {
		return nil
	}
	return waiting.GetPendingPlugins()
}

// finish releases a binding cycle and waits for its end.
func (b *bindings) finish(one *binding) {
	b.mu.Lock()
	b.unreleased = slices.DeleteFunc(b.unreleased, func(other *binding) bool { return other == one })
	b.mu.Unlock()
	close(one.released)
	<-(<-one.began).Done()
	b.mu.Lock()
	delete(b.byPod, one.pod.UID)
	b.mu.Unlock()
}

// timeOutFirst ends the wait of the first pod for its Permit plugins, as their timeouts would, and says whether one waits.
func (b *bindings) timeOutFirst() bool {
	b.mu.Lock()
	if len(b.unreleased) == 0 {
		b.mu.Unlock()
		return false
	}
	first := b.unreleased[0]
	b.mu.Unlock()
	plugins := first.pendingPlugins()
	slices.Sort(plugins)
	if len(plugins) > 0 {
		first.of.GetWaitingPod(first.pod.UID).Reject(plugins[0], fmt.Sprintf("rejected: nothing made plugin %s let it go on before its time was over", plugins[0]))
	}
	b.finish(first)
	b.finishPermitted()
	return true
}

// beginPreBind has PreBind end at an event that its pod needs the driver of a device. End says whether there was one.
func (b *bindings) beginPreBind(ctx context.Context, pod *v1.Pod) (_ context.Context, end func() bool) {
	one := b.of(pod)
	if one == nil {
		return ctx, func() bool { return false }
	}
	ctx, one.cancelPreBind = context.WithCancel(ctx)
	return ctx, func() bool {
		one.cancelPreBind()
		return one.awaitsDriver
	}
}

// cancelPreBind is called in PreBind at such an event.
func (b *bindings) cancelPreBind(pod *v1.Pod) {
	one := b.of(pod)
	if one != nil {
		one.awaitsDriver = true
		one.cancelPreBind()
	}
}
