// Package scheduler is kube-scheduler with this project's plugins in it: the
// native one, and every Wasm plugin that the configuration names. It comes as a
// command (command.go), and as a function for a process that runs more than a
// scheduler (run.go).
package scheduler

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// setup is what there is to know about plugins before the scheduler starts.
type setup struct {
	host    *wasmhost.Host
	extra   frameworkruntime.Registry
	started map[profilePlugin]*wasmhost.Started
}

// profilePlugin is a plugin of a profile. No two profiles have the same name.
type profilePlugin struct{ profile, plugin string }

// read finds the Wasm plugins of a configuration and starts their guests, so that
// a bad one is told of before anything else happens. All that is wrong is told at
// once, as far as what is wrong lets the rest be read.
func (s *setup) read(ctx context.Context, configuration []byte) error {
	if err := readable(configuration); err != nil {
		return err
	}
	misspelt := checkFields(configuration)
	wasm, unusable := WasmPlugins(configuration, names(s.extra)...)
	errs := []error{misspelt, unusable, checkExtenders(configuration)}
	if together(errs...) == nil {
		errs = append(errs, decode(configuration))
	} else {
		errs = append(errs, decodeRest(configuration))
	}
	s.started = map[profilePlugin]*wasmhost.Started{}
	for _, guest := range wasm {
		started, err := s.host.Start(ctx, guest.Name, guest.Args)
		if err != nil {
			errs = append(errs, about(guest.field(err), err))
		}
		s.started[profilePlugin{guest.Profile, guest.Name}] = started
	}
	return together(errs...)
}

// register is an app.Option.
func (s *setup) register(registry frameworkruntime.Registry) error {
	if err := app.WithPlugin(plugin.Name, plugin.New)(registry); err != nil {
		return err
	}
	if err := registry.Merge(s.extra); err != nil {
		return err
	}
	for guest := range s.started {
		registry[guest.plugin] = s.factory(guest.plugin) // of other profiles too
	}
	return nil
}

// factory makes plugins of the guests that read has started. Their args, which
// come along once more, have been read.
func (s *setup) factory(name string) frameworkruntime.PluginFactory {
	return func(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		started, ok := s.started[profilePlugin{handle.ProfileName(), name}]
		if !ok {
			return nil, fmt.Errorf("plugin %s: profile %s has no guest of this name", name, handle.ProfileName())
		}
		return started.Plugin(ctx, handle), nil
	}
}

func names(registry frameworkruntime.Registry) []string {
	all := make([]string, 0, len(registry))
	for name := range registry {
		all = append(all, name)
	}
	return all
}
