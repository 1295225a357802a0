package simulator

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// regexReaders is as much of a scheduler's configuration as decides under which
// annotations a pod's regex is read.
type regexReaders struct {
	Profiles []struct {
		SchedulerName string
		Plugins       map[string]struct{ Enabled []struct{ Name string } }
		PluginConfig  []struct {
			Name string
			Args json.RawMessage
		}
	}
	Extenders []struct{ URLPrefix, FilterVerb string }
}

// Annotations are the keys under which the scheduler that runs, under the given
// name, reads a pod's regex. There is none if it has no plugin that does. What
// a guest or an extender that is not ours reads nobody knows; it is taken for
// one of ours.
func (s *Simulator) Annotations(scheduler string) []string {
	return annotations(s.SchedulerConfig(), scheduler)
}

func annotations(config []byte, scheduler string) []string {
	var file regexReaders
	keys := []string{}
	if yaml.Unmarshal(config, &file) != nil {
		return keys // it would not run
	}
	known := len(file.Profiles) == 0 && scheduler == v1.DefaultSchedulerName
	for _, p := range file.Profiles {
		if p.SchedulerName != scheduler && (p.SchedulerName != "" || scheduler != v1.DefaultSchedulerName) {
			continue
		}
		known = true
		args := map[string]json.RawMessage{}
		for _, config := range p.PluginConfig {
			args[config.Name] = config.Args
		}
		for _, set := range p.Plugins {
			for _, enabled := range set.Enabled {
				if key := annotationOf(enabled.Name, args[enabled.Name]); key != "" {
					keys = append(keys, key)
				}
			}
		}
	}
	for _, e := range file.Extenders {
		if known && e.FilterVerb != "" {
			keys = append(keys, regex.Annotation)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// annotationOf is the key that a plugin with these args reads, or "".
func annotationOf(name string, args json.RawMessage) string {
	if name == plugin.Name {
		return keyIn(args)
	}
	var guest struct{ GuestURL, GuestConfig string }
	if json.Unmarshal(args, &guest) != nil || guest.GuestURL == "" {
		return "" // a plugin of kube-scheduler's own
	}
	if u, err := url.Parse(guest.GuestURL); err == nil && path.Base(u.Path) == "regex_v1.wasm" {
		return regex.Annotation // it has no configuration
	}
	return keyIn([]byte(guest.GuestConfig))
}

func keyIn(config []byte) string {
	policy, err := regex.ParseConfig(config)
	if err != nil {
		return regex.Annotation
	}
	return policy.Annotation
}
