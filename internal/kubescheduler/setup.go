// Package kubescheduler makes kube-scheduler with this project's plugins in it: the native
// one, and every Wasm plugin that the configuration names. A process that does more than
// schedule calls [Read], and then [New] or [Run]. Package scheduler, outside of internal, is
// the program.
package kubescheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// Plugins are the plugins that a scheduler has besides Kubernetes' own.
type Plugins struct {
	Host       *wasmhost.Host            // for the guests
	CompiledIn frameworkruntime.Registry // besides the native one; of [Registry]
	// Patience is for how long Start asks again for guests that are unavailable. Zero asks once. It also asks once if anything else is wrong.
	Patience time.Duration

	started map[profilePlugin]*wasmhost.Started
}

// profilePlugin is a plugin of a profile. No two profiles have the same name.
type profilePlugin struct{ profile, plugin string }

// Start starts the guests of a configuration, and returns it as [Configuration.Effective] does. The error has
// all mistakes in it, as [Mistakes].
func (p *Plugins) Start(ctx context.Context, c *Configuration) (*config.KubeSchedulerConfiguration, error) {
	compiledIn := sets.KeySet(plugins.NewInTreeRegistry()).Union(sets.KeySet(p.CompiledIn)).Insert(plugin.Name)
	guests, mistakes := c.check(compiledIn)
	p.started = map[profilePlugin]*wasmhost.Started{}
	deadline := time.Now().Add(p.Patience)
	if len(mistakes) > 0 {
		deadline = time.Time{} // waiting would not help
	}
	for i, err := range p.startGuests(ctx, guests, deadline) {
		if err != nil {
			mistakes.addArgs(guests[i].path, "guestURL", err)
		}
	}
	if err := mistakes.located(c); err != nil {
		return nil, err
	}
	return c.Effective()
}

// How long to wait before guests that were unavailable are asked for again: each time twice as long.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// startGuests starts all guests, and returns an error or nil of each. While all that have failed are unavailable, it tries these again until the deadline.
func (p *Plugins) startGuests(ctx context.Context, guests []guest, deadline time.Time) []error {
	errs := make([]error, len(guests))
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		first := pause == firstRetry
		failed := false
		again := time.Until(deadline) > pause
		for i, g := range guests {
			if !first && errs[i] == nil {
				continue // it has started
			}
			started, err := p.Host.Start(ctx, g.plugin, g.args)
			errs[i] = err
			p.started[g.profilePlugin] = started
			switch {
			case err != nil:
				failed = true
				again = again && errors.As(err, new(*wasmhost.UnavailableError))
			case !first:
				g.logger(ctx).Info("The guest has become available")
			}
		}
		if !failed || !again {
			return errs
		}
		for i, g := range guests {
			if first && errs[i] != nil {
				g.logger(ctx).Info("The guest is unavailable: asking again", "for", p.Patience, "err", errs[i])
			}
		}
		select {
		case <-ctx.Done():
			return errs
		case <-time.After(pause):
		}
	}
}

func (g guest) logger(ctx context.Context) klog.Logger {
	return klog.LoggerWithValues(klog.FromContext(ctx), "plugin", g.plugin)
}

// Registry returns the plugins that options such as [app.WithPlugin] add. It is an error if a
// name is taken: by another one of them, or by a plugin of Kubernetes or of this project.
func Registry(options ...app.Option) (frameworkruntime.Registry, error) {
	all := plugins.NewInTreeRegistry()
	all[plugin.Name] = plugin.New
	before := sets.KeySet(all)
	for _, option := range options {
		if err := option(all); err != nil {
			return nil, fmt.Errorf("add plugins: %w", err)
		}
	}
	maps.DeleteFunc(all, func(name string, _ frameworkruntime.PluginFactory) bool { return before.Has(name) })
	return all, nil
}

// Register adds the plugins to those of Kubernetes. It implements [app.Option].
func (p *Plugins) Register(registry frameworkruntime.Registry) error {
	if err := app.WithPlugin(plugin.Name, plugin.New)(registry); err != nil {
		return err
	}
	for name, factory := range p.CompiledIn {
		err := registry.Register(name, func(ctx context.Context, args runtime.Object, handle fwk.Handle) (made fwk.Plugin, err error) {
			defer Recover(ctx, &err) // the framework adds the plugin's name
			return factory(ctx, args, handle)
		})
		if err != nil {
			return err
		}
	}
	for guest := range p.started {
		registry[guest.plugin] = p.factory(guest.plugin) // for all profiles that have such a guest
	}
	return nil
}

// factory makes plugins of the guests that [Plugins.Start] has started. It does not need
// the args, which Start has read.
func (p *Plugins) factory(name string) frameworkruntime.PluginFactory {
	return func(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		started, ok := p.started[profilePlugin{handle.ProfileName(), name}]
		if !ok {
			return nil, fmt.Errorf("plugin %s: profile %s has no guest of this name", name, handle.ProfileName())
		}
		return started.Plugin(ctx, handle), nil
	}
}

// bindHere makes the scheduler's client bind the pods of extenders, unless ExtenderBind is set. The
// framework, and so each plugin's handle, shares the list of extenders.
func (o Options) bindHere(ctx context.Context, sched *scheduler.Scheduler, client kubernetes.Interface) {
	extenders := hooks.Extenders(sched)
	for i, extender := range extenders {
		if extender.IsBinder() && !o.ExtenderBind {
			extenders[i] = bindsHere{extender, ctx, client}
		}
	}
}

// bindsHere is an extender that gets all requests but those to bind.
type bindsHere struct {
	fwk.Extender
	ctx    context.Context // of the scheduler, since Bind gets none
	client kubernetes.Interface
}

// Bind implements fwk.Extender.
func (b bindsHere) Bind(binding *v1.Binding) error {
	return b.client.CoreV1().Pods(binding.Namespace).Bind(b.ctx, binding, metav1.CreateOptions{})
}
