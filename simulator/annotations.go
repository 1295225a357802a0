package simulator

import (
	"net/url"
	"path"
	"slices"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	kubescheduler "wasmkwokwizardry.io/regex-scheduling/scheduler"
)

// Annotations are the keys under which the scheduler that runs, under the given
// name, reads a pod's regex, and those of what to exclude. There is none if it has
// no plugin that does. What a guest or an extender that is not ours reads nobody
// knows; it is taken for one of ours.
func (s *Simulator) Annotations(scheduler string) (keys, excluding []string) {
	return annotations(s.SchedulerConfig(), scheduler)
}

func annotations(text []byte, scheduler string) (keys, excluding []string) {
	keys, excluding = []string{}, []string{}
	config, err := kubescheduler.Read(text)
	if err != nil {
		return keys, excluding // it would not run
	}
	known := len(config.Profiles) == 0 && scheduler == v1.DefaultSchedulerName
	var policies []regex.Policy
	for _, p := range config.Profiles {
		if p.SchedulerName == scheduler {
			known = true
			policies = append(policies, policiesOf(p)...)
		}
	}
	for _, e := range config.Extenders {
		if known && e.FilterVerb != "" {
			policies = append(policies, regex.Default)
		}
	}
	for _, policy := range policies {
		keys, excluding = append(keys, policy.Annotation), append(excluding, policy.ExcludeAnnotation)
	}
	slices.Sort(keys)
	slices.Sort(excluding)
	return slices.Compact(keys), slices.Compact(excluding)
}

// policiesOf are what the plugins that a profile enables read.
func policiesOf(p kubescheduler.Profile) (all []regex.Policy) {
	args := map[string]kubescheduler.PluginConfig{}
	for _, config := range p.PluginConfig {
		args[config.Name] = config
	}
	for _, set := range p.Plugins {
		for _, enabled := range set.Enabled {
			guest, config, ok := args[enabled.Name].Guest()
			switch u, err := url.Parse(guest); {
			case enabled.Name == plugin.Name:
				all = append(all, policyIn(args[enabled.Name].Args))
			case !ok: // a plugin of kube-scheduler's own
			case err == nil && path.Base(u.Path) == "regex_v1.wasm":
				all = append(all, regex.Default) // it has no configuration
			default:
				all = append(all, policyIn([]byte(config)))
			}
		}
	}
	return all
}

func policyIn(config []byte) regex.Policy {
	policy, err := regex.ParseConfig(config)
	if err != nil {
		return regex.Default
	}
	return policy
}
