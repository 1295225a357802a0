package kubescheduler

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Configuration is a KubeSchedulerConfiguration as it was written. The fields have what this
// project needs of it. A field of a wrong type is empty.
type Configuration struct {
	Profiles  []Profile
	Extenders []struct{ URLPrefix, FilterVerb string }

	text yamlcheck.Text // for the lines
	file map[string]any // all of it, for kube-scheduler
	form Mistakes       // duplicate keys, and a second document
}

// Profile is a profile of a configuration. It schedules the pods that name it.
type Profile struct {
	SchedulerName string // never empty
	Plugins       map[string]struct{ Enabled []struct{ Name string } }
	PluginConfig  []PluginConfig

	index   int
	enabled []enabled
}

// enabled is a plugin that a profile enables under an extension point.
type enabled struct{ name, point, path string }

// PluginConfig has the args of one plugin of a profile.
type PluginConfig struct {
	Name string
	Args json.RawMessage
}

// Read reads a configuration in YAML or JSON. It rejects what is not YAML or not an
// object. [Run] and [New] find what else is wrong.
func Read(text []byte) (*Configuration, error) {
	c := &Configuration{text: yamlcheck.Parse(text), file: map[string]any{}}
	_, root := c.text.Find("")
	if root != nil && root.Kind != goyaml.MappingNode {
		return nil, errors.New("this is not a configuration: one begins with apiVersion: and kind:, and goes on with profiles: or another field")
	}
	c.form = below("", c.text.Keys())
	all, _ := yamlcheck.Documents(text)
	if len(all) > 1 {
		c.form = append(c.form, &FieldError{Line: all[1].Begin(), Err: errors.New("a configuration is one document: remove this line, and what is below it if that is another one")})
	}
	if err := yaml.Unmarshal(text, &c.file); err != nil {
		return nil, cmp.Or(c.form.located(c), err)
	}
	_ = yaml.Unmarshal(text, c) // check finds the wrong types
	for i := range c.Profiles {
		p := &c.Profiles[i]
		p.index, p.SchedulerName = i, cmp.Or(p.SchedulerName, v1.DefaultSchedulerName)
		for _, point := range slices.Sorted(maps.Keys(p.Plugins)) {
			for j, one := range p.Plugins[point].Enabled {
				p.enabled = append(p.enabled, enabled{one.Name, point, p.path("plugins.%s.enabled[%d].name", point, j)})
			}
		}
	}
	return c, nil
}

// IsEmpty reports whether the configuration has no field.
func (c *Configuration) IsEmpty() bool { return len(c.file) == 0 }

// Default gives a field of the top level a value, unless it has one.
func (c *Configuration) Default(field string, value any) {
	if c.file[field] == nil {
		c.file[field] = value
	}
}

// SetURLPrefix replaces the address of an extender.
func (c *Configuration) SetURLPrefix(extender int, url string) {
	c.Extenders[extender].URLPrefix = url
	all, _ := c.file["extenders"].([]any)
	if extender < len(all) { // else the key is misspelt, which check reports
		all[extender].(map[string]any)["urlPrefix"] = url
	}
}

// Effective returns a configuration without mistakes as kube-scheduler reads it: with all defaults, also of plugins' args.
func (c *Configuration) Effective() (*config.KubeSchedulerConfiguration, error) {
	obj, err := decode(c.forUs().file)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return obj.(*config.KubeSchedulerConfiguration), nil
}

// lenient ignores unknown fields, which check reports.
var lenient = serializer.NewCodecFactory(scheme.Scheme).UniversalDecoder()

func decode(file map[string]any) (runtime.Object, error) {
	text, err := yaml.Marshal(file)
	if err != nil {
		return nil, err
	}
	obj, _, err := lenient.Decode(text, nil, nil)
	return obj, err
}

// forUs returns a copy for a scheduler in this process: with apiVersion and kind, and without leader election.
func (c *Configuration) forUs() *Configuration {
	ours := *c
	ours.file = maps.Clone(c.file)
	ours.Default("apiVersion", "kubescheduler.config.k8s.io/v1")
	ours.Default("kind", kind)
	ours.file["leaderElection"] = map[string]any{"leaderElect": false}
	return &ours
}

// Guest returns the guest of a plugin. ok is false if the plugin has no guestURL. The case of the keys' letters does not matter.
func (c PluginConfig) Guest() (url, config string, ok bool) {
	var args struct{ GuestURL, GuestConfig any }
	if json.Unmarshal(c.Args, &args) != nil {
		return "", "", false
	}
	url, _ = args.GuestURL.(string)
	config, _ = args.GuestConfig.(string)
	return url, config, args.GuestURL != nil
}
