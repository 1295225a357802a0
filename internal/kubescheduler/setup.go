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
	"slices"
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
	// Patience is for how long, from Start on, [Plugins.Wait] asks again for guests that are unavailable. With zero Start reports them.
	Patience time.Duration

	started  map[profilePlugin]*wasmhost.Started
	missing  []failure // guests for Wait
	deadline time.Time
}

// profilePlugin is a plugin of a profile. No two profiles have the same name.
type profilePlugin struct{ profile, plugin string }

// failure is a guest that did not start.
type failure struct {
	guest
	err error
}

// Start starts the guests of a configuration, and returns it as [Configuration.Effective] does. The error has
// all mistakes in it, as [Mistakes]. It leaves guests that are unavailable to Wait, if there is patience and nothing else is wrong.
func (p *Plugins) Start(ctx context.Context, c *Configuration) (*config.KubeSchedulerConfiguration, error) {
	compiledIn := sets.KeySet(plugins.NewInTreeRegistry()).Union(sets.KeySet(p.CompiledIn)).Insert(plugin.Name)
	guests, mistakes := c.check(compiledIn)
	p.started, p.missing, p.deadline = map[profilePlugin]*wasmhost.Started{}, nil, time.Now().Add(p.Patience)
	var failed []failure
	for _, g := range guests {
		if err := p.start(ctx, g); err != nil {
			failed = append(failed, failure{g, err})
		}
	}
	if p.Patience > 0 && len(mistakes) == 0 && unavailable(failed) {
		p.missing, failed = failed, nil
	}
	mistakes.addGuests(failed)
	if err := mistakes.located(c); err != nil {
		return nil, err
	}
	return c.Effective()
}

func (p *Plugins) start(ctx context.Context, g guest) error {
	started, err := p.Host.Start(ctx, g.plugin, g.args)
	p.started[g.profilePlugin] = started
	return err
}

// unavailable reports whether that is all that is wrong.
func unavailable(failed []failure) bool {
	return !slices.ContainsFunc(failed, func(f failure) bool { return !errors.As(f.err, new(*wasmhost.UnavailableError)) })
}

// How long to wait before guests that were unavailable are asked for again: each time twice as long.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// Wait starts the guests that Start found unavailable, and tries them again as long as there is patience and nothing else is wrong. A
// process calls it when it has all else that it needs, so that what is wrong with that shows at once. The error is [Mistakes].
func (p *Plugins) Wait(ctx context.Context) error {
	for _, f := range p.missing {
		f.logger(ctx).Info("The guest is unavailable: asking again", "for", p.Patience, "err", f.err)
	}
	for pause := firstRetry; len(p.missing) > 0 && unavailable(p.missing) && ctx.Err() == nil; pause = min(2*pause, lastRetry) {
		left := time.Until(p.deadline)
		if left <= 0 {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(pause, left)):
		}
		var failed []failure
		for _, f := range p.missing {
			if f.err = p.start(ctx, f.guest); f.err != nil {
				failed = append(failed, f)
			} else {
				f.logger(ctx).Info("The guest has become available")
			}
		}
		p.missing = failed
	}
	mistakes := Mistakes(nil)
	mistakes.addGuests(p.missing)
	if len(mistakes) == 0 {
		return nil
	}
	return mistakes
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
