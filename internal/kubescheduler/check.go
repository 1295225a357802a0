package kubescheduler

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

const kind = "KubeSchedulerConfiguration"

// check finds all mistakes that can be found without starting guests, and returns the
// guests to start. compiledIn are the names that no guest may have.
func (c *Configuration) check(compiledIn sets.Set[string]) (guests []guest, m Mistakes) {
	m.must("kind", c.file["kind"], kind)
	m.must("apiVersion", c.file["apiVersion"], configv1.SchemeGroupVersion.String())
	var misfits yamlcheck.Problems
	if c.file["kind"] == kind || c.file["kind"] == nil { // the fields of another kind are not checked
		misfits = c.text.Check(&configv1.KubeSchedulerConfiguration{})
	}
	m = slices.Concat(c.form, m, below("", misfits))
	for i := range c.Profiles {
		p := &c.Profiles[i]
		known := compiledIn.Clone()
		guests = append(guests, p.checkConfig(known, &m)...)
		p.checkKnown(known, &m)
	}
	for i, extender := range c.Extenders { // kube-scheduler would report for each pod that no request can be sent
		u, err := url.Parse(extender.URLPrefix)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			m.add(fmt.Sprintf("extenders[%d].urlPrefix", i), "must begin with http:// or https:// and a host, as in http://localhost:8000/")
		}
	}
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
// error of the decoder, which they cause.
func (c *Configuration) validate(others bool) (m Mistakes) {
	obj, err := decode(c.file)
	if err != nil && !others {
		m.add("", "%w", err)
	}
	typed, ok := obj.(*config.KubeSchedulerConfiguration)
	if err != nil || !ok {
		return m
	}
	for _, err := range append(invalidFits(typed), flat(validation.ValidateKubeSchedulerConfiguration(typed))...) {
		var wrong *field.Error
		if errors.As(err, &wrong) {
			m.add(wrong.Field, "%s", words(wrong))
		} else {
			m.add("", "%w", err)
		}
	}
	return m
}

// flat returns the errors that an error joins, or else the error itself.
func flat(err error) (errs []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if ok {
		for _, one := range joined.Unwrap() {
			errs = append(errs, flat(one)...)
		}
		return errs
	}
	var all utilerrors.Aggregate
	if errors.As(err, &all) {
		return utilerrors.Flatten(all).Errors()
	}
	if err == nil {
		return nil
	}
	return []error{err}
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

// words is the text of an error, without a value that would be printed in Go's syntax.
func words(wrong *field.Error) string {
	if other, ok := wrong.BadValue.(*field.Path); ok {
		return fmt.Sprintf("%s: %s", wrong.Type, other)
	}
	switch reflect.ValueOf(wrong.BadValue).Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice:
		return strings.TrimSuffix(wrong.Type.String()+": "+wrong.Detail, ": ")
	}
	return wrong.ErrorBody()
}

func (p *Profile) path(format string, args ...any) string {
	return fmt.Sprintf("profiles[%d].", p.index) + fmt.Sprintf(format, args...)
}
