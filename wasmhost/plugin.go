package wasmhost

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// plugin is what the framework calls. It begins each attempt with the guest that is there, and [Args.Reload] puts another there. mask
// decides which of its interfaces the framework finds.
type plugin struct {
	name   string
	key    fwk.StateKey
	handle fwk.Handle

	// What the framework has learnt at the start.
	hooks  abi.Set // that the first guest exports
	events []fwk.ClusterEventWithHint

	reloads   bool
	lease     atomic.Pointer[lease] // of the guest that is there
	last      atomic.Pointer[cycle] // that was begun last
	beginning sync.Mutex

	stop    context.CancelFunc // ends reloading
	closing sync.Mutex         // is locked while the plugin gets another guest, or is closed
	closed  bool
	failing bool // the last look for a new guest failed
}

// lease keeps a guest open. The plugin has one, and so has each cycle that has begun with the guest, and nothing else may have it for
// long, the guest itself least of all. The framework does not say when it needs a cycle no more, so the garbage collector finds out. A plugin
// has to be closed: its guest reaches it through the framework.
type lease struct{ guest *guest }

func newLease(g *guest) *lease {
	l := &lease{g}
	runtime.AddCleanup(l, func(g *guest) {
		go func() {
			err := g.Close()
			if err != nil {
				klog.FromContext(g.ctx).Error(err, "A guest that was replaced goes on", "digest", g.digest)
			}
		}()
	}, g)
	return l
}

// newPlugin makes the plugin of a guest that has started.
func newPlugin(ctx context.Context, first *lease, handle fwk.Handle) *plugin {
	g := first.guest
	reloading, stop := context.WithCancel(g.host.ctx)
	p := &plugin{
		name: g.name, key: naming.Key(g.name), handle: handle, hooks: g.compiled.Exports, events: g.events,
		reloads: g.args.Reload.Duration > 0 && g.host.options.FetchNew != nil, stop: stop,
	}
	switch {
	case g.notRemembered != "":
		klog.FromContext(ctx).Info("Nothing is remembered of what the guest answers, and opportunistic batching is off for all pods of its profile: "+g.notRemembered, "plugin", p.name, "guest", g.url)
	case p.reloads:
		klog.FromContext(ctx).Info("Opportunistic batching is off for all pods of the guest's profile: "+mayBeReplaced, "plugin", p.name, "guest", g.url)
	}
	g.host.mu.Lock() // which reads whose guest is whose
	p.use(first)
	g.host.mu.Unlock()
	countFailing(p.name, 0)
	if p.reloads {
		p.events = p.hinted()
		g.host.reloading.Go(func() { p.reload(klog.NewContext(reloading, klog.FromContext(ctx)), g.args.Reload.Duration) })
	}
	return p
}

// mayBeReplaced is why pods have no signature of a guest of which answers are remembered.
const mayBeReplaced = "reload may replace the guest, and signatures of pods outlive it"

// use has the guest of the lease begin all cycles from now on.
func (p *plugin) use(l *lease) {
	g := l.guest
	if p.handle != nil {
		cycle := cycleView{handle: p.handle, plugin: p.name, visible: g.visible}
		g.cycleView, g.bindingView = cycle, bindingView{cycle}
	}
	g.plugin = p
	p.lease.Store(l)
	p.last.Store(nil) // it has the lease of the guest before
	g.setUsed(true)
}

func (p *plugin) Name() string { return p.name }

// Close implements io.Closer. It ends calls and starts of instances that are under way, and waits
// for them. If one does not end, which cannot be interrupted, the guest is left as it is. A guest that was there before is closed when
// its last attempt has been collected.
func (p *plugin) Close() error {
	p.stop()
	p.setFailing(false)
	p.closing.Lock()
	defer p.closing.Unlock()
	p.closed = true
	return p.lease.Load().guest.Close()
}

// setFailing tells the metrics whether the last look for a new guest failed.
func (p *plugin) setFailing(now bool) {
	p.closing.Lock()
	defer p.closing.Unlock()
	if p.closed || now == p.failing {
		return
	}
	p.failing = now
	change := 1
	if !now {
		change = -1
	}
	countFailing(p.name, change)
}
