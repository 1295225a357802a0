package kubescheduler

import (
	"net/url"
	"path"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Reader is a plugin or an extender that reads a pod's regex.
type Reader struct {
	Plugin string // its name; empty for an extender
	Policy regex.Policy
	Native bool // it is the native plugin
}

// Readers lists what reads a regex in a scheduler, of the name in a profile. Guests and extenders of others are assumed to read the keys
// that ours read.
func (c *Configuration) Readers(scheduler string) (all []Reader) {
	known := len(c.Profiles) == 0 && scheduler == v1.DefaultSchedulerName
	for _, p := range c.Profiles {
		if p.SchedulerName == scheduler {
			known = true
			all = append(all, p.readers()...)
		}
	}
	for _, e := range c.Extenders {
		if known && e.FilterVerb != "" {
			all = append(all, Reader{Policy: regex.Default})
		}
	}
	return all
}

// readers are the plugins that a profile enables.
func (p *Profile) readers() (all []Reader) {
	args := map[string]PluginConfig{}
	for _, config := range p.PluginConfig {
		args[config.Name] = config
	}
	for _, set := range p.Plugins {
		for _, enabled := range set.Enabled {
			guest, config, ok := args[enabled.Name].Guest()
			u, err := url.Parse(guest)
			switch {
			case enabled.Name == plugin.Name:
				config = string(args[enabled.Name].Args)
			case !ok: // a plugin of kube-scheduler's own
				continue
			case err == nil && path.Base(u.Path) == "regex_v1.wasm":
				config = "" // it reads none
			}
			policy, err := regex.ParseConfig([]byte(config))
			if err != nil {
				policy = regex.Default
			}
			all = append(all, Reader{enabled.Name, policy, enabled.Name == plugin.Name})
		}
	}
	return all
}
