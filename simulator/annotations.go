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
// name, reads a pod's regex, and those of what to exclude. There is none if it has
// no plugin that does. What a guest or an extender that is not ours reads nobody
// knows; it is taken for one of ours.
func (s *Simulator) Annotations(scheduler string) (keys, excluding []string) {
	return annotations(s.SchedulerConfig(), scheduler)
}

func annotations(config []byte, scheduler string) (keys, excluding []string) {
	var file regexReaders
	keys, excluding = []string{}, []string{}
	if yaml.Unmarshal(config, &file) != nil {
		return keys, excluding // it would not run
	}
	read := func(policy *regex.Policy) {
		if policy != nil {
			keys, excluding = append(keys, policy.Annotation), append(excluding, policy.ExcludeAnnotation)
		}
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
				read(policyOf(enabled.Name, args[enabled.Name]))
			}
		}
	}
	for _, e := range file.Extenders {
		if known && e.FilterVerb != "" {
			read(&regex.Default)
		}
	}
	slices.Sort(keys)
	slices.Sort(excluding)
	return slices.Compact(keys), slices.Compact(excluding)
}

// policyOf is what a plugin with these args reads, or nil.
func policyOf(name string, args json.RawMessage) *regex.Policy {
	if name == plugin.Name {
		return policyIn(args)
	}
	var guest struct{ GuestURL, GuestConfig string }
	if json.Unmarshal(args, &guest) != nil || guest.GuestURL == "" {
		return nil // a plugin of kube-scheduler's own
	}
	if u, err := url.Parse(guest.GuestURL); err == nil && path.Base(u.Path) == "regex_v1.wasm" {
		return &regex.Default // it has no configuration
	}
	return policyIn([]byte(guest.GuestConfig))
}

func policyIn(config []byte) *regex.Policy {
	policy, err := regex.ParseConfig(config)
	if err != nil {
		return &regex.Default
	}
	return &policy
}
