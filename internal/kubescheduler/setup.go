// Package kubescheduler is kube-scheduler with this project's plugins in it: the
// native one, and every Wasm plugin that the configuration names. It comes as a
// command (command.go), and as a function for a process that runs more than a
// scheduler (run.go).
package kubescheduler

import (
	"context"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// setup is what there is to know about plugins before the scheduler starts.
type setup struct {
	host  *wasmhost.Host
	extra frameworkruntime.Registry
	wasm  []WasmPlugin
}

// read finds the Wasm plugins of a configuration and checks their guests, so
// that a bad one is told of before anything else happens.
func (s *setup) read(ctx context.Context, configuration []byte) error {
	if err := checkFields(configuration); err != nil {
		return err
	}
	wasm, err := WasmPlugins(configuration, names(s.extra)...)
	if err != nil {
		return err
	}
	if err := decode(configuration); err != nil {
		return err
	}
	if err := checkExtenders(configuration); err != nil {
		return err
	}
	var errs []error
	for _, guest := range wasm {
		if err := s.host.Check(ctx, guest.Name, guest.Args); err != nil {
			errs = append(errs, about(guest.field(err), err))
		}
	}
	s.wasm = wasm
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
	for _, guest := range s.wasm {
		if _, ok := registry[guest.Name]; ok {
			continue // another profile has it too; its args come with the profile
		}
		if err := registry.Register(guest.Name, s.host.Factory(guest.Name)); err != nil {
			return err
		}
	}
	return nil
}

func names(registry frameworkruntime.Registry) []string {
	all := make([]string, 0, len(registry))
	for name := range registry {
		all = append(all, name)
	}
	return all
}
