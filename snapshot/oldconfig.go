package snapshot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	configv1 "k8s.io/kube-scheduler/config/v1"
)

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

// configVersion is the only one that kube-scheduler still knows. The fields of the
// older ones that v1 has not are those above, so they are read as v1.
var configVersion = configv1.SchemeGroupVersion.String()

var oldVersions = []string{"kubescheduler.config.k8s.io/v1beta1", "kubescheduler.config.k8s.io/v1beta2", "kubescheduler.config.k8s.io/v1beta3"}

// withoutWhatIsGone leaves out of a configuration what kube-scheduler had once and
// has no more, and says so: kube-scheduler-simulator writes down every plugin that
// the kube-scheduler of its time has by default. What was never there stays, for
// whoever applies the configuration to refuse. Kubernetes' own conversion does not
// serve here: 1.36 knows none of the old versions.
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
	done := oldConfig{}
	done.clean(config)
	for _, field := range goneFields {
		if _, ok := config[field]; ok {
			delete(config, field)
			done.note("%s is left out: kube-scheduler has it no more", field)
		}
	}
	// kube-scheduler-simulator left these out for long.
	if config["kind"] == nil && config["apiVersion"] == nil {
		config["kind"] = "KubeSchedulerConfiguration"
	}
	if config["apiVersion"] == nil || config["apiVersion"] == "" {
		config["apiVersion"] = configVersion
	} else if len(done) == 0 {
		return raw, nil, nil
	}
	var notices []Notice
	for _, reason := range slices.Sorted(maps.Keys(done)) {
		notices = append(notices, Notice{About: "scheduler configuration", Reason: reason})
	}
	cleaned, err := json.Marshal(config)
	return cleaned, notices, err
}

// oldConfig notes what is done to a configuration.
type oldConfig map[string]bool

func (o oldConfig) note(format string, args ...any) { o[fmt.Sprintf(format, args...)] = true }

// clean brings old versions up to date, and leaves plugins out that are gone.
func (o oldConfig) clean(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if version, _ := value["apiVersion"].(string); slices.Contains(oldVersions, version) {
			value["apiVersion"] = configVersion
			o.note("%s is read as %s", version, configVersion)
		}
		for key, field := range value {
			value[key] = o.clean(field)
		}
	case []any:
		value = slices.DeleteFunc(value, o.isGone)
		for i := range value {
			value[i] = o.clean(value[i])
		}
		return value
	}
	return value
}

// isGone is true of what names a plugin that is gone.
func (o oldConfig) isGone(item any) bool {
	fields, _ := item.(map[string]any)
	name, _ := fields["name"].(string)
	instead, ok := gone[name]
	if ok && instead != "" {
		instead = "; " + instead + " does its work"
	}
	if ok {
		o.note("plugin %s is left out: kube-scheduler has it no more%s", name, instead)
	}
	return ok
}
