package scheduler

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/plugin"
)

const kind = "KubeSchedulerConfiguration"

// check finds all mistakes that can be found without starting guests, and returns the
// guests to start. compiledIn are the names that no guest may have.
func (c *Configuration) check(compiledIn sets.Set[string]) (guests []guest, m Mistakes) {
	m.must("kind", c.file["kind"], kind)
	m.must("apiVersion", c.file["apiVersion"], configv1.SchemeGroupVersion.String())
	var misfits yamlcheck.Problems
	if is, ok := c.file["kind"].(string); !ok || yamlcheck.Closest(is, []string{kind}) != "" { // the fields of another kind are not checked
		misfits = c.text.Check(&configv1.KubeSchedulerConfiguration{})
	}
	m = slices.Concat(c.form, m, below("", misfits))
	for i := range c.Profiles {
		p := &c.Profiles[i]
		p.checkOnce(&m)
		known := compiledIn.Clone()
		guests = append(guests, p.checkConfig(known, &m)...)
		p.checkKnown(known, misfits, &m)
	}
	c.checkExtenders(&m)
	return guests, append(m, c.validate(len(m) > 0)...)
}

func (m *Mistakes) must(field string, is any, be string) {
	switch is {
	case be:
	case nil:
		m.add(field, "is missing: it must be %s", be)
	default:
		m.add(field, "is %v, but must be %s", is, be)
	}
}

// validate calls kube-scheduler's own validation. If there are other mistakes, it skips the
// error of the decoder, which they cause, and the plugins, whose defaults would be logged.
func (c *Configuration) validate(others bool) (m Mistakes) {
	file := runtime.DeepCopyJSON(c.file)
	if profiles, _ := file["profiles"].([]any); others {
		for _, profile := range profiles {
			if fields, ok := profile.(map[string]any); ok {
				delete(fields, "plugins")
			}
		}
	}
	obj, err := decode(file)
	if err != nil && !others {
		m.add("", "%w", err)
	}
	typed, ok := obj.(*config.KubeSchedulerConfiguration)
	if err != nil || !ok {
		return m
	}
	for _, err := range append(invalidFits(typed), flat(validation.ValidateKubeSchedulerConfiguration(typed))...) {
		if wrong := (*field.Error)(nil); errors.As(err, &wrong) {
			m.add(wrong.Field, "%s", words(wrong))
		} else {
			m.add("", "%w", err)
		}
	}
	return m
}

func flat(err error) (errs []error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			errs = append(errs, flat(one)...)
		}
		return errs
	}
	if all := utilerrors.Flatten(utilerrors.NewAggregate([]error{err})); all != nil {
		return all.Errors()
	}
	return nil
}

// invalidFits validates the args of NodeResourcesFit. ValidateKubeSchedulerConfiguration
// looks for them under a wrong name, so kube-scheduler reports them alone, and last.
func invalidFits(typed *config.KubeSchedulerConfiguration) (found []error) {
	for i := range typed.Profiles {
		for j, plugin := range typed.Profiles[i].PluginConfig {
			if args, ok := plugin.Args.(*config.NodeResourcesFitArgs); ok {
				path := field.NewPath("profiles").Index(i).Child("pluginConfig").Index(j).Child("args")
				found = append(found, flat(validation.ValidateNodeResourcesFitArgs(path, args))...)
			}
		}
	}
	return found
}

// words is an error without a value that Kubernetes prints as Go does.
func words(wrong *field.Error) string {
	if path, ok := wrong.BadValue.(*field.Path); ok && wrong.Type == field.ErrorTypeDuplicate {
		return fmt.Sprintf("is the same as %s: use different names", path)
	}
	if wrong.Type == field.ErrorTypeDuplicate {
		return fmt.Sprintf("%v is here twice: remove one of the two", wrong.BadValue)
	}
	switch reflect.ValueOf(wrong.BadValue).Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice:
		if wrong.Detail != "" {
			return wrong.Detail
		}
		return wrong.Type.String()
	}
	return wrong.ErrorBody()
}

// checkExtenders finds an address that no request can be sent to. kube-scheduler would
// report it for each pod.
func (c *Configuration) checkExtenders(m *Mistakes) {
	for i, extender := range c.Extenders {
		u, err := url.Parse(extender.URLPrefix)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			m.add(fmt.Sprintf("extenders[%d].urlPrefix", i), "must begin with http:// or https:// and a host, as in http://localhost:8000/")
		}
	}
}

// checkOnce finds a plugin that is enabled twice under an extension point.
func (p *Profile) checkOnce(m *Mistakes) {
	for i, e := range p.enabled {
		same := func(other enabled) bool { return other.name == e.name && other.point == e.point }
		if slices.ContainsFunc(p.enabled[:i], same) {
			m.addNamed(e.path, "plugin %s: profile %s enables it twice under %s; remove one of the two", e.name, p.SchedulerName, e.point)
		}
	}
}

// isObject is true of args with fields, or without anything.
func isObject(args []byte) bool {
	args = bytes.TrimSpace(args)
	return len(args) == 0 || args[0] == '{' || string(args) == "null"
}

// argsOf are empty args of a plugin that is compiled in, or nil.
func argsOf(name string) any {
	if name == plugin.Name {
		return &struct {
			Annotation        string `json:"annotation"`
			ExcludeAnnotation string `json:"excludeAnnotation"`
			PreferAnnotation  string `json:"preferAnnotation"`
		}{}
	}
	args, err := scheme.Scheme.New(configv1.SchemeGroupVersion.WithKind(name + "Args"))
	if err != nil {
		return nil
	}
	return args
}

// addRejected adds why a plugin rejects its args, if each of its errors names a field.
func (m *Mistakes) addRejected(path string, err error) bool {
	var found Mistakes
	for _, one := range flat(err) {
		var wrong *field.Error
		if !errors.As(one, &wrong) {
			return false
		}
		found.add(strings.TrimSuffix(path+"."+wrong.Field, ".<nil>"), "%s", words(wrong))
	}
	*m = append(*m, found...)
	return len(found) > 0
}

func (p *Profile) path(format string, args ...any) string {
	return fmt.Sprintf("profiles[%d].", p.index) + fmt.Sprintf(format, args...)
}

// locate finds the field that an error of kube-scheduler's set-up is about. Only the text
// of the error names the profile and the plugin. rejected are the errors of plugins, which
// may name fields of their args.
func (c *Configuration) locate(err error, rejected map[profilePlugin]error) error {
	if err == nil {
		return nil
	}
	var m Mistakes
	for i := range c.Profiles {
		p := &c.Profiles[i]
		ofProfile, found := strings.CutPrefix(err.Error(), fmt.Sprintf("initializing profiles: creating profile for scheduler name %s: ", p.SchedulerName))
		if !found {
			continue
		}
		for j, plugin := range p.PluginConfig {
			if ofPlugin, found := strings.CutPrefix(ofProfile, fmt.Sprintf("initializing plugin %q: ", plugin.Name)); found {
				path := p.path("pluginConfig[%d].args", j)
				if !m.addRejected(path, rejected[profilePlugin{p.SchedulerName, plugin.Name}]) {
					m.add(path, "plugin %s: %s", plugin.Name, ofPlugin)
				}
				return m.located(c)
			}
		}
		m.add(fmt.Sprintf("profiles[%d]", i), "%s", ofProfile)
		return m.located(c)
	}
	return err
}
