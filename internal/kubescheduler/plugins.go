package kubescheduler

import (
	"fmt"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/native"
	"wasmkwokwizardry.io/regex-scheduling/internal/wasmhost"
)

// WasmPlugin is a plugin whose pluginConfig carries a guestURL, in a profile
// that enables it.
type WasmPlugin struct {
	Profile string
	Name    string
	Args    wasmhost.Args
}

// multiPoint is where a Wasm plugin has to be enabled: which extension points it
// has is known by its guest alone.
const multiPoint = "multiPoint"

// WasmPlugins finds the Wasm plugins in a KubeSchedulerConfiguration, in YAML or
// JSON. extra are the names of further plugins that are compiled in. A guestURL
// of a plugin that its profile does not enable is left alone.
//
// The args of the native plugin are checked on the way.
func WasmPlugins(config []byte, extra ...string) ([]WasmPlugin, error) {
	var file struct{ Profiles []profile }
	if err := yaml.Unmarshal(config, &file); err != nil {
		return nil, err
	}
	taken := compiledIn(extra)
	var found []WasmPlugin
	for _, p := range file.Profiles {
		if p.SchedulerName == "" {
			p.SchedulerName = "default-scheduler"
		}
		inProfile, err := p.wasmPlugins(taken)
		if err == nil {
			err = p.checkNative()
		}
		if err != nil {
			return nil, err
		}
		found = append(found, inProfile...)
	}
	return found, nil
}

// compiledIn are the names that no guest may have.
func compiledIn(extra []string) sets.Set[string] {
	return sets.KeySet(plugins.NewInTreeRegistry()).Insert(native.Name).Insert(extra...)
}

func (p profile) wasmPlugins(taken sets.Set[string]) ([]WasmPlugin, error) {
	enabled := p.enabled()
	guests := sets.New[string]()
	var found []WasmPlugin
	for _, config := range p.PluginConfig {
		if !hasGuest(config.Args) {
			continue
		}
		if taken.Has(config.Name) {
			return nil, fmt.Errorf("plugin %s: profile %s gives it a guestURL, but this name belongs to a plugin that is compiled in; choose another name",
				config.Name, p.SchedulerName)
		}
		guests.Insert(config.Name)
		points := enabled[config.Name]
		if points == nil {
			continue
		}
		if !points.Has(multiPoint) {
			return nil, fmt.Errorf("plugin %s: profile %s enables it under %s; a Wasm plugin must be enabled under %s",
				config.Name, p.SchedulerName, strings.Join(sets.List(points), " and "), multiPoint)
		}
		args, err := wasmhost.ParseArgs(config.Args)
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", config.Name, err)
		}
		found = append(found, WasmPlugin{Profile: p.SchedulerName, Name: config.Name, Args: args})
	}
	return found, p.checkKnown(enabled, taken.Union(guests))
}

// checkKnown catches the plugin whose guestURL was forgotten. kube-scheduler
// would only say that it does not exist.
func (p profile) checkKnown(enabled map[string]sets.Set[string], known sets.Set[string]) error {
	var unknown []string
	for name := range enabled {
		if !known.Has(name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	sort.Strings(unknown)
	return fmt.Errorf("plugin %s: profile %s enables it, but it is not compiled in, and no pluginConfig of the profile gives it a guestURL",
		unknown[0], p.SchedulerName)
}
