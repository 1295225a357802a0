package scheduler

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// WasmPlugin is a plugin whose pluginConfig carries a guestURL, in a profile
// that enables it.
type WasmPlugin struct {
	Profile string
	Name    string
	Args    wasmhost.Args
	path    string // of its args in the configuration
}

// aboutGuest are the fields that an error of a guest is about, by what it says.
var aboutGuest = map[string]*regexp.Regexp{
	"guestConfig": regexp.MustCompile(`guestConfig: `),
	"guestSHA256": regexp.MustCompile(`guestSHA256 asks for `),
	"memoryLimit": regexp.MustCompile(`but memoryLimit is `),

	"guestSizeLimit": regexp.MustCompile(`over guestSizeLimit`),
}

// field is the one of the args that an error of the guest is about.
func (w WasmPlugin) field(err error) string {
	for field, says := range aboutGuest {
		if says.MatchString(err.Error()) {
			return w.path + "." + field
		}
	}
	return w.path + ".guestURL"
}

// named finds the field of the args that an error names.
var named = regexp.MustCompile(`args: (?:(guestURL|guestConfig|logSeverity|guestSHA256|guestSizeLimit|memoryLimit|callTimeout|answersLimit|recheckEvery|instances|compilationCache) |.*unknown field "([^"]+)")`)

// argsField is the field that an error of the args is about.
func argsField(path string, err error) string {
	if found := named.FindStringSubmatch(err.Error()); found != nil {
		return path + "." + found[1] + found[2]
	}
	return path
}

// multiPoint is where a Wasm plugin has to be enabled: which extension points it
// has is known by its guest alone.
const multiPoint = "multiPoint"

// WasmPlugins finds the Wasm plugins in a KubeSchedulerConfiguration, in YAML or
// JSON: beside an error, those that nothing is wrong with. extra are the names of
// further plugins that are compiled in. A guestURL of a plugin that its profile does
// not enable is left alone.
//
// The args of the native plugin are checked on the way.
func WasmPlugins(config []byte, extra ...string) (found []WasmPlugin, err error) {
	told := misfits(config)
	profiles, err := profilesOf(config)
	if err != nil && len(told) > 0 {
		return nil, nil // one of these is why
	} else if err != nil {
		return nil, err
	}
	taken := compiledIn(extra)
	var errs []error
	for _, p := range profiles {
		inProfile, err := p.wasmPlugins(taken, told)
		errs = append(errs, p.checkOnce(), p.checkArgs(), err, p.checkNative())
		found = append(found, inProfile...)
	}
	return found, together(errs...)
}

// compiledIn are the names that no guest may have.
func compiledIn(extra []string) sets.Set[string] {
	return sets.KeySet(plugins.NewInTreeRegistry()).Insert(plugin.Name).Insert(extra...)
}

func (p profile) wasmPlugins(taken sets.Set[string], told yamlcheck.Problems) ([]WasmPlugin, error) {
	enabled := p.enabled()
	known := taken.Clone()
	var found []WasmPlugin
	var errs []error
	for i, config := range p.PluginConfig {
		if !config.wasm {
			continue
		}
		known.Insert(config.Name)
		points := enabled[config.Name]
		if err := p.checkName(i, points, taken); err != nil || points == nil {
			errs = append(errs, err)
			continue
		}
		path := p.path("pluginConfig[%d].args", i)
		args, err := wasmhost.ParseArgs(config.Args)
		if err != nil {
			errs = append(errs, about(argsField(path, err), fmt.Errorf("plugin %s: %w", config.Name, err)))
			continue
		}
		found = append(found, WasmPlugin{Profile: p.SchedulerName, Name: config.Name, Args: args, path: path})
	}
	for name := range enabled {
		if p.misplaced(name, told) {
			known.Insert(name)
		}
	}
	return found, together(append(errs, p.checkKnown(enabled, known))...)
}

// misplaced reports whether what the profile configures of a plugin is not read,
// for a reason that is told: it may have a guestURL.
func (p profile) misplaced(plugin string, told yamlcheck.Problems) bool {
	for i, config := range p.PluginConfig {
		if config.Name == plugin && !isObject(config.Args) {
			return true
		}
		here := p.path("pluginConfig[%d]", i)
		if slices.ContainsFunc(told, func(t yamlcheck.Problem) bool { return strings.HasPrefix(t.Field, here) }) && (config.Name == plugin || config.Name == "") {
			return true
		}
	}
	return slices.ContainsFunc(told, func(t yamlcheck.Problem) bool {
		field := t.Field[strings.LastIndexByte(t.Field, '.')+1:]
		return yamlcheck.Closest(field, []string{"pluginConfig"}) != ""
	})
}

// checkName checks what a guest is called, and where that is enabled, if it is.
func (p profile) checkName(i int, points, taken sets.Set[string]) error {
	name := p.PluginConfig[i].Name
	if taken.Has(name) {
		return about(p.path("pluginConfig[%d].name", i),
			fmt.Errorf("plugin %s: profile %s gives it a guestURL, but this name belongs to a plugin that is compiled in; choose another name",
				name, p.SchedulerName))
	}
	if points != nil && !points.Has(multiPoint) {
		return about(p.pathOf(name, points),
			fmt.Errorf("plugin %s: profile %s enables it under %s; a Wasm plugin must be enabled under %s",
				name, p.SchedulerName, strings.Join(sets.List(points), " and "), multiPoint))
	}
	return nil
}

// checkKnown catches the plugin whose guestURL was forgotten. kube-scheduler
// would only say that it does not exist.
func (p profile) checkKnown(enabled map[string]sets.Set[string], known sets.Set[string]) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(enabled)) {
		if known.Has(name) {
			continue
		}
		err := fmt.Errorf("plugin %s: profile %s enables it, but it is not compiled in, and no pluginConfig of the profile gives it a guestURL", name, p.SchedulerName)
		if meant := yamlcheck.Closest(name, sets.List(known)); meant != "" {
			err = fmt.Errorf("%w; do you mean %s?", err, meant)
		}
		errs = append(errs, about(p.pathOf(name, enabled[name]), err))
	}
	return together(errs...)
}
