package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/plugin"
)

// profile is as much of a profile as decides which plugins are Wasm. The rest
// is for kube-scheduler to read.
type profile struct {
	index int // among the profiles

	SchedulerName string
	Plugins       map[string]struct{ Enabled []struct{ Name string } }
	PluginConfig  []pluginConfig
}

type pluginConfig struct {
	Name string
	Args json.RawMessage
	wasm bool // there is a guestURL in Args
}

// enabled returns, for each plugin that the profile names, the extension points
// it is enabled under.
func (p profile) enabled() map[string]sets.Set[string] {
	names := map[string]sets.Set[string]{}
	for point, set := range p.Plugins {
		for _, enabled := range set.Enabled {
			if names[enabled.Name] == nil {
				names[enabled.Name] = sets.New[string]()
			}
			names[enabled.Name].Insert(point)
		}
	}
	return names
}

// path is that of a field of the profile.
func (p profile) path(format string, args ...any) string {
	return strings.TrimSuffix(fmt.Sprintf("profiles[%d].", p.index)+fmt.Sprintf(format, args...), ".")
}

// pathOf is where the profile enables a plugin, under the first of some points.
func (p profile) pathOf(plugin string, points sets.Set[string]) string {
	for _, point := range sets.List(points) {
		for i, enabled := range p.Plugins[point].Enabled {
			if enabled.Name == plugin {
				return p.path("plugins.%s.enabled[%d].name", point, i)
			}
		}
	}
	return p.path("plugins")
}

// checkOnce catches the plugin that is enabled twice under an extension point.
func (p profile) checkOnce() error {
	var errs []error
	for _, point := range slices.Sorted(maps.Keys(p.Plugins)) {
		seen := sets.New[string]()
		for i, enabled := range p.Plugins[point].Enabled {
			if seen.Has(enabled.Name) {
				errs = append(errs, about(p.path("plugins.%s.enabled[%d].name", point, i),
					fmt.Errorf("plugin %s: profile %s enables it twice under %s; take one of the two away", enabled.Name, p.SchedulerName, point)))
			}
			seen.Insert(enabled.Name)
		}
	}
	return together(errs...)
}

// checkNative makes the native plugin once, for the sake of its errors.
func (p profile) checkNative() error {
	for i, config := range p.PluginConfig {
		if config.Name != plugin.Name || config.wasm {
			continue // the latter is told of by checkName
		}
		if _, err := plugin.New(context.Background(), &runtime.Unknown{Raw: config.Args}, nil); err != nil {
			return about(argsField(p.path("pluginConfig[%d].args", i), err), err)
		}
	}
	return nil
}

// hasGuest reports whether args are those of a Wasm plugin. A guestURL in wrong
// capitals counts: reading the args strictly will then name it.
func hasGuest(args json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return false // kube-scheduler says what is wrong
	}
	for field := range fields {
		if strings.EqualFold(field, "guestURL") {
			return true
		}
	}
	return false
}
