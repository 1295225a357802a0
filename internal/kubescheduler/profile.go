package kubescheduler

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/native"
)

// profile is as much of a profile as decides which plugins are Wasm. The rest
// is for kube-scheduler to read.
type profile struct {
	SchedulerName string
	Plugins       map[string]struct{ Enabled []struct{ Name string } }
	PluginConfig  []struct {
		Name string
		Args json.RawMessage
	}
}

// enabled returns, for each plugin that the profile names, the extension points
// it is enabled under.
func (p profile) enabled() map[string]sets.Set[string] {
	names := map[string]sets.Set[string]{}
	for point, set := range p.Plugins {
		for _, plugin := range set.Enabled {
			if names[plugin.Name] == nil {
				names[plugin.Name] = sets.New[string]()
			}
			names[plugin.Name].Insert(point)
		}
	}
	return names
}

// checkNative makes the native plugin once, for the sake of its errors.
func (p profile) checkNative() error {
	for _, config := range p.PluginConfig {
		if config.Name != native.Name {
			continue
		}
		if _, err := native.New(context.Background(), &runtime.Unknown{Raw: config.Args}, nil); err != nil {
			return err
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
