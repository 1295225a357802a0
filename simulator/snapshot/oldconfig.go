package snapshot

import (
	"encoding/json"
	"fmt"
	"slices"

	configv1 "k8s.io/kube-scheduler/config/v1"
)

// aboutConfig is what notices of the scheduler's configuration are about.
const aboutConfig = "scheduler configuration"

// gone are the plugins that kube-scheduler had once, and what does their work now.
var gone = map[string]string{
	"EBSLimits":                   "NodeVolumeLimits",
	"GCEPDLimits":                 "NodeVolumeLimits",
	"AzureDiskLimits":             "NodeVolumeLimits",
	"CinderLimits":                "NodeVolumeLimits",
	"SelectorSpread":              "PodTopologySpread",
	"DefaultPodTopologySpread":    "PodTopologySpread",
	"ServiceAffinity":             "",
	"NodeLabel":                   "NodeAffinity",
	"NodePreferAvoidPods":         "TaintToleration",
	"NodeResourcesLeastAllocated": "NodeResourcesFit",
	"NodeResourcesMostAllocated":  "NodeResourcesFit",
	"RequestedToCapacityRatio":    "NodeResourcesFit",
}

// goneFields are those of the configuration itself.
var goneFields = []string{"healthzBindAddress", "metricsBindAddress"}

// oldVersions are those of the configuration that v1 can be read as, once what is
// gone is left out: its fields are theirs.
var oldVersions = []string{"kubescheduler.config.k8s.io/v1beta1", "kubescheduler.config.k8s.io/v1beta2", "kubescheduler.config.k8s.io/v1beta3"}

// withoutWhatIsGone leaves out of a configuration what kube-scheduler had once and
// has no more, and says so: kube-scheduler-simulator writes down every plugin that
// the kube-scheduler of its time has by default. What was never there stays, for
// whoever applies the configuration to refuse.
func withoutWhatIsGone(raw json.RawMessage) (json.RawMessage, []Notice, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil, nil
	}
	var config map[string]any
	if err := unmarshal(raw, &config); err != nil {
		return nil, nil, fmt.Errorf("schedulerConfig: %w", err)
	}
	if len(config) == 0 {
		return raw, nil, nil
	}
	o := &oldConfig{}
	o.header(config)
	profiles, _ := config["profiles"].([]any)
	for _, profile := range profiles {
		if fields, ok := profile.(map[string]any); ok {
			o.profile(fields)
		}
	}
	if len(o.notices) == 0 && !o.changed {
		return raw, nil, nil
	}
	cleaned, err := json.Marshal(config)
	return cleaned, o.notices, err
}

type oldConfig struct {
	notices []Notice
	changed bool
}

func (o *oldConfig) say(format string, args ...any) {
	notice := Notice{About: aboutConfig, Reason: fmt.Sprintf(format, args...)}
	if !slices.Contains(o.notices, notice) {
		o.notices = append(o.notices, notice)
	}
}

// header completes what kube-scheduler-simulator left out for long, and brings an
// old version up to date.
func (o *oldConfig) header(config map[string]any) {
	for _, field := range goneFields {
		if _, ok := config[field]; ok {
			delete(config, field)
			o.say("%s is left out: kube-scheduler has it no more", field)
		}
	}
	if config["kind"] == nil && config["apiVersion"] == nil {
		config["kind"], o.changed = "KubeSchedulerConfiguration", true
	}
	version, _ := config["apiVersion"].(string)
	if slices.Contains(oldVersions, version) {
		o.say("%s is read as %s", version, configv1.SchemeGroupVersion)
		version = ""
	}
	if version == "" {
		config["apiVersion"], o.changed = configv1.SchemeGroupVersion.String(), true
	}
}

func (o *oldConfig) profile(profile map[string]any) {
	plugins, _ := profile["plugins"].(map[string]any)
	for _, set := range plugins {
		fields, _ := set.(map[string]any)
		for _, list := range []string{"enabled", "disabled"} {
			if items, ok := fields[list].([]any); ok {
				fields[list] = slices.DeleteFunc(items, o.isGone)
			}
		}
	}
	configs, ok := profile["pluginConfig"].([]any)
	if !ok {
		return
	}
	profile["pluginConfig"] = slices.DeleteFunc(configs, o.isGone)
	for _, config := range configs {
		fields, _ := config.(map[string]any)
		args, _ := fields["args"].(map[string]any)
		if version, _ := args["apiVersion"].(string); slices.Contains(oldVersions, version) {
			args["apiVersion"], o.changed = configv1.SchemeGroupVersion.String(), true
		}
	}
}

// isGone is true of what names a plugin that is gone.
func (o *oldConfig) isGone(item any) bool {
	fields, _ := item.(map[string]any)
	name, _ := fields["name"].(string)
	instead, ok := gone[name]
	switch {
	case !ok:
		return false
	case instead == "":
		o.say("plugin %s is left out: kube-scheduler has it no more", name)
	default:
		o.say("plugin %s is left out: kube-scheduler has it no more; %s does its work", name, instead)
	}
	return true
}
