package kubescheduler

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// guest is a plugin whose pluginConfig has a guestURL, in a profile that enables
// it. A guestURL of a plugin that its profile does not enable is ignored.
type guest struct {
	profilePlugin
	args wasmhost.Args
	path string // of args in the configuration
}

// multiPoint is where a guest has to be enabled: only the guest itself says which extension
// points it has.
const multiPoint = "multiPoint"

// checkConfig checks the args of all plugins, and returns the guests among them. It
// adds their names to the known ones.
func (p *Profile) checkConfig(known sets.Set[string], m *Mistakes) (guests []guest) {
	compiledIn := known.Clone()
	for i, c := range p.PluginConfig {
		path := p.path("pluginConfig[%d].args", i)
		_, _, isGuest := c.Guest()
		if !isGuest {
			if !c.check(path, compiledIn, m) {
				known.Insert(c.Name) // there may be a guestURL
			}
			continue
		}
		known.Insert(c.Name)
		if !p.mayBeGuest(i, compiledIn, m) {
			continue
		}
		args, err := wasmhost.ParseArgs(c.Args)
		for _, err := range flat(err) {
			m.addArgs(path, "", fmt.Errorf("plugin %s: %w", c.Name, err))
		}
		if err == nil {
			guests = append(guests, guest{profilePlugin{p.SchedulerName, c.Name}, args, path})
		}
	}
	return guests
}

// check checks the args of a plugin that is no guest, and reports whether they have the right fields.
func (c PluginConfig) check(path string, compiledIn sets.Set[string], m *Mistakes) bool {
	var args any
	switch {
	case c.Name == plugin.Name:
		args = &regex.Policy{}
	case compiledIn.Has(c.Name):
		known, err := scheme.Scheme.New(configv1.SchemeGroupVersion.WithKind(c.Name + "Args"))
		if err == nil {
			args = known
		}
	default:
		args = &map[string]any{} // any fields
	}
	if args != nil && len(c.Args) > 0 {
		misfits := yamlcheck.Decode(c.Args, args)
		*m = append(*m, below(path, misfits)...)
		if len(misfits) > 0 {
			return false
		}
	}
	if c.Name == plugin.Name {
		_, err := plugin.New(context.Background(), &runtime.Unknown{Raw: c.Args}, nil)
		for _, err := range flat(err) {
			m.addArgs(path, "", err)
		}
	}
	return true
}

// mayBeGuest checks the name of a guest, and under which extension points the profile enables it. It reports whether
// the guest is to be started.
func (p *Profile) mayBeGuest(i int, compiledIn sets.Set[string], m *Mistakes) bool {
	name, path, points := p.PluginConfig[i].Name, "", []string{}
	for _, e := range p.enabled {
		if e.name == name {
			path, points = cmp.Or(path, e.path), append(points, e.point)
		}
	}
	switch {
	case compiledIn.Has(name):
		m.addNamed(p.path("pluginConfig[%d].name", i),
			"plugin %s: profile %s gives it a guestURL, but this name belongs to a plugin that is compiled in; choose another name", name, p.SchedulerName)
	case len(points) > 0 && !slices.Contains(points, multiPoint):
		m.addNamed(path, "plugin %s: profile %s enables it under %s; a Wasm plugin must be enabled under %s",
			name, p.SchedulerName, strings.Join(points, " and "), multiPoint)
	default:
		return len(points) > 0
	}
	return false
}

// checkKnown finds a plugin without a guestURL that is not compiled in. kube-scheduler would
// only say that it does not exist.
func (p *Profile) checkKnown(known sets.Set[string], m *Mistakes) {
	once := sets.New[string]()
	for _, e := range p.enabled {
		if known.Has(e.name) || once.Has(e.name) {
			continue
		}
		once.Insert(e.name)
		meant := yamlcheck.Closest(e.name, sets.List(known))
		if meant != "" {
			meant = "; do you mean " + meant + "?"
		}
		m.addNamed(e.path, "plugin %s: profile %s enables it, but it is not compiled in, and no pluginConfig of the profile gives it a guestURL%s",
			e.name, p.SchedulerName, meant)
	}
}
