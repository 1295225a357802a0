package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// Results of a try to replace a guest.
const success, failure = "success", "failure"

// reload asks the source for a new guest again and again, until ctx ends. What fails changes nothing, and is said once.
func (p *plugin) reload(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var version, said string
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		var err error
		version, err = p.renew(ctx, version)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			said = ""
		default:
			reloads.WithLabelValues(p.name, failure).Inc()
			if err.Error() != said {
				said = err.Error()
				klog.FromContext(ctx).Error(err, "The guest was not replaced: the one before goes on", "plugin", p.name)
				p.report(said)
			}
		}
	}
}

// renew begins to use the guest that is at the source now, unless its version is the one that was looked at before. It returns the version
// that it has looked at.
func (p *plugin) renew(ctx context.Context, before string) (version string, err error) {
	l := p.lease.Load()
	runs := l.guest
	version, err = runs.host.options.Version(ctx, runs.args)
	if err != nil {
		return before, fmt.Errorf("plugin %s: guest %s: %w", p.name, runs.url, lineError{err})
	}
	if version != "" && version == before {
		return version, nil
	}
	g, err := runs.host.start(ctx, p.name, runs.args, runs)
	if err != nil {
		return before, err
	}
	if g == runs {
		return version, nil
	}
	err = p.fits(g)
	if err == nil {
		err = p.replace(newLease(g, l.number+1))
	}
	if err != nil {
		return before, errors.Join(fmt.Errorf("plugin %s: guest %s: %w", p.name, g.url, err), g.Close())
	}
	reloads.WithLabelValues(p.name, success).Inc()
	klog.FromContext(ctx).Info("The guest was replaced", "plugin", p.name, "guest", g.url, "sha256", g.digest, "before", runs.digest)
	p.wake(ctx)
	return version, nil
}

// replace uses a guest in place of the one that is there.
func (p *plugin) replace(l *lease) error {
	p.closing.Lock()
	defer p.closing.Unlock()
	if p.closed {
		return errClosed
	}
	p.lease.Load().guest.setUsed(false)
	p.use(l)
	return nil
}

// registered are hooks, of each of which the framework learns at the start whether a guest has one.
var registered = [][]abi.Hook{{abi.Filter, abi.PostFilter}, {abi.Score}, {abi.NormalizeScore}, {abi.AddPod, abi.RemovePod}, bindingCycle}

// fits reports why a guest cannot do without a start of the scheduler, which knows hooks and events of the first.
func (p *plugin) fits(g *guest) error {
	for _, hooks := range registered {
		if g.compiled.Exports.Has(hooks...) && !p.hooks.Has(hooks...) {
			return fmt.Errorf("it exports one of %v, and the guest that the scheduler has started with none of them: this needs a restart of the scheduler", hooks)
		}
	}
	for _, wanted := range g.events {
		missing := wanted.Event.ActionType
		for _, known := range p.events {
			if known.Event.Resource == wanted.Event.Resource || known.Event.Resource == fwk.WildCard {
				missing &^= known.Event.ActionType
			}
		}
		if missing != 0 {
			return fmt.Errorf("it waits for events of %s that the guest that the scheduler has started with does not wait for: this needs a restart of the scheduler", wanted.Event.Resource)
		}
	}
	return nil
}

// hinted are the events of the first guest with the hints of the one that is there when something happens.
func (p *plugin) hinted() []fwk.ClusterEventWithHint {
	events := slices.Clone(p.events)
	for i := range events {
		event := &events[i].Event
		if event.Resource == fwk.Node && event.ActionType&fwk.Add != 0 {
			event.ActionType |= fwk.UpdateNodeTaint // as withHint
		}
		events[i].QueueingHintFn = func(logger klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
			now := p.lease.Load().guest.events
			same := slices.IndexFunc(now, func(e fwk.ClusterEventWithHint) bool { return e.Event.Resource == event.Resource })
			if same < 0 || now[same].QueueingHintFn == nil {
				return fwk.Queue, nil
			}
			return now[same].QueueingHintFn(logger, pod, oldObj, newObj)
		}
	}
	return events
}

// wake has all pending pods tried again: the new guest may let them run.
func (p *plugin) wake(ctx context.Context) {
	if p.handle == nil {
		return
	}
	pods, err := p.handle.SharedInformerFactory().Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		return // a lister of a cache returns none
	}
	pending := map[string]*v1.Pod{}
	for _, pod := range pods {
		if pod.Spec.NodeName == "" {
			pending[klog.KObj(pod).String()] = pod
		}
	}
	p.handle.Activate(klog.FromContext(ctx), pending)
}

// report sends an event about the pod that the scheduler runs in, if it is named in the environment.
func (p *plugin) report(why string) {
	pod := &v1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: os.Getenv("POD_NAMESPACE"), Name: os.Getenv("POD_NAME")}
	if p.handle != nil && pod.Namespace != "" && pod.Name != "" {
		p.handle.EventRecorder().Eventf(pod, nil, v1.EventTypeWarning, "GuestNotReplaced", "Reload", "%s", why)
	}
}
