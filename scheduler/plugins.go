package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// guest is a plugin whose pluginConfig carries a guestURL, in a profile that enables
// it. A guestURL of a plugin that its profile does not enable is left alone.
type guest struct {
	profilePlugin
	args wasmhost.Args
	path string // of args in the configuration
}

// multiPoint is where a guest has to be enabled: which extension points it has is
// known by itself alone.
const multiPoint = "multiPoint"

func (p *Profile) guests(compiledIn sets.Set[string], misfits yamlcheck.Problems, m *Mistakes) (found []guest) {
	enabled, known := p.enabled(), compiledIn.Clone()
	for i, c := range p.PluginConfig {
		if _, _, ok := c.Guest(); !ok {
			continue
		}
		known.Insert(c.Name)
		points := enabled[c.Name]
		switch {
		case compiledIn.Has(c.Name):
			m.addNamed(p.path("pluginConfig[%d].name", i), "plugin %s: profile %s gives it a guestURL, but this name belongs to a plugin that is compiled in; choose another name",
				c.Name, p.SchedulerName)
			continue
		case points == nil:
			continue
		case !points.Has(multiPoint):
			m.addNamed(p.pathOf(c.Name, points), "plugin %s: profile %s enables it under %s; a Wasm plugin must be enabled under %s",
				c.Name, p.SchedulerName, strings.Join(sets.List(points), " and "), multiPoint)
			continue
		}
		g := guest{profilePlugin: profilePlugin{p.SchedulerName, c.Name}, path: p.path("pluginConfig[%d].args", i)}
		var err error
		if g.args, err = wasmhost.ParseArgs(c.Args); err == nil {
			found = append(found, g)
			continue
		}
		for _, err := range flat(err) {
			m.addGuest(g, "", fmt.Errorf("plugin %s: %w", c.Name, err))
		}
	}
	p.checkKnown(enabled, known, misfits, m)
	return found
}

// checkKnown catches the plugin whose guestURL was forgotten. kube-scheduler would
// only say that it does not exist.
func (p *Profile) checkKnown(enabled map[string]sets.Set[string], known sets.Set[string], misfits yamlcheck.Problems, m *Mistakes) {
	for _, name := range slices.Sorted(maps.Keys(enabled)) {
		if known.Has(name) || p.misread(name, misfits) {
			continue
		}
		meant := yamlcheck.Closest(name, sets.List(known))
		if meant != "" {
			meant = "; do you mean " + meant + "?"
		}
		m.addNamed(p.pathOf(name, enabled[name]), "plugin %s: profile %s enables it, but it is not compiled in, and no pluginConfig of the profile gives it a guestURL%s",
			name, p.SchedulerName, meant)
	}
}

// misread reports whether a misfit, which is told, keeps the configuration of a plugin
// from being read: it may have a guestURL.
func (p *Profile) misread(name string, misfits yamlcheck.Problems) bool {
	for i, c := range p.PluginConfig {
		misfit := func(m yamlcheck.Problem) bool { return strings.HasPrefix(m.Field, p.path("pluginConfig[%d]", i)) }
		if (c.Name == name || c.Name == "") && (!isObject(c.Args) || slices.ContainsFunc(misfits, misfit)) {
			return true
		}
	}
	return slices.ContainsFunc(misfits, func(m yamlcheck.Problem) bool {
		return yamlcheck.Closest(m.Field[strings.LastIndexByte(m.Field, '.')+1:], []string{"pluginConfig"}) != ""
	})
}

// enabled are the extension points under which each plugin is enabled.
func (p *Profile) enabled() map[string]sets.Set[string] {
	points := map[string]sets.Set[string]{}
	for point, set := range p.Plugins {
		for _, enabled := range set.Enabled {
			if points[enabled.Name] == nil {
				points[enabled.Name] = sets.New[string]()
			}
			points[enabled.Name].Insert(point)
		}
	}
	return points
}

// pathOf is where a plugin is enabled, under the first of some points.
func (p *Profile) pathOf(plugin string, points sets.Set[string]) string {
	point := sets.List(points)[0]
	i := slices.IndexFunc(p.Plugins[point].Enabled, func(enabled struct{ Name string }) bool { return enabled.Name == plugin })
	return p.path("plugins.%s.enabled[%d].name", point, i)
}
