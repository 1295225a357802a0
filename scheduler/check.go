package scheduler

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// kind is what every configuration is.
const kind = "KubeSchedulerConfiguration"

// readable checks that a configuration is an object whose keys no decoder would
// stumble over.
func readable(configuration []byte) error {
	var file map[string]any
	switch err := yaml.Unmarshal(configuration, &file); {
	case err != nil && strings.Contains(err.Error(), "cannot unmarshal"):
		return errors.New("this is no configuration: that begins with apiVersion: and kind:, and goes on with profiles: or another field")
	case err != nil:
		return err
	}
	return below("", yamlcheck.Parse(configuration).Keys())
}

// checkFields finds what is misspelt, at the wrong place or of the wrong type, all
// of it at once. Decoders tell of the first alone, and not where it is.
func checkFields(configuration []byte) error {
	var is struct{ APIVersion, Kind any }
	if err := yaml.Unmarshal(configuration, &is); err != nil {
		return err
	}
	header := together(
		must("kind", is.Kind, kind),
		must("apiVersion", is.APIVersion, configv1.SchemeGroupVersion.String()),
	)
	if name, ok := is.Kind.(string); ok && yamlcheck.Closest(name, []string{kind}) == "" {
		return header // something else altogether
	}
	return together(header, below("", misfits(configuration)))
}

func misfits(configuration []byte) yamlcheck.Problems {
	return yamlcheck.Parse(configuration).Check(reflect.TypeFor[configv1.KubeSchedulerConfiguration]())
}

func must(field string, is any, be string) error {
	switch is {
	case be:
		return nil
	case nil:
		return &FieldError{Field: field, Message: "is missing: it must be " + be}
	}
	return &FieldError{Field: field, Message: fmt.Sprintf("is %v, but must be %s", is, be)}
}

// decode reads a configuration as strictly as kube-scheduler will.
func decode(configuration []byte) error {
	obj, _, err := scheme.Codecs.UniversalDecoder().Decode(configuration, nil, nil)
	if err != nil {
		return err
	}
	return validate(obj)
}

// lenient passes over unknown fields.
var lenient = serializer.NewCodecFactory(scheme.Scheme)

// decodeRest finds what is wrong beside what is told already. What keeps that from
// being read is no news; nor are plugins, of which the defaults would write a log.
func decodeRest(configuration []byte) error {
	var file map[string]any
	if yaml.Unmarshal(configuration, &file) != nil {
		return nil
	}
	profiles, _ := file["profiles"].([]any)
	for _, profile := range profiles {
		if fields, ok := profile.(map[string]any); ok {
			delete(fields, "plugins")
		}
	}
	rest, err := yaml.Marshal(file)
	if err != nil {
		return nil
	}
	obj, _, err := lenient.UniversalDecoder().Decode(rest, nil, nil)
	if err != nil {
		return nil
	}
	return validate(obj)
}

// validate asks kube-scheduler's own validation.
func validate(obj runtime.Object) error {
	typed, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil // which is told
	}
	found := append(invalidFits(typed), validation.ValidateKubeSchedulerConfiguration(typed))
	if all := utilerrors.Flatten(utilerrors.NewAggregate(found)); all != nil {
		return invalid(all.Errors())
	}
	return nil
}

// invalidFits finds what ValidateKubeSchedulerConfiguration would if it had not
// mistaken the plugin's name: kube-scheduler tells of it alone, and last.
func invalidFits(typed *config.KubeSchedulerConfiguration) (found []error) {
	for i := range typed.Profiles {
		for j, plugin := range typed.Profiles[i].PluginConfig {
			if args, ok := plugin.Args.(*config.NodeResourcesFitArgs); ok {
				path := field.NewPath("profiles").Index(i).Child("pluginConfig").Index(j).Child("args")
				found = append(found, validation.ValidateNodeResourcesFitArgs(path, args))
			}
		}
	}
	return found
}

// checkArgs compares the args of kube-scheduler's own plugins with their types.
func (p profile) checkArgs() error {
	var errs []error
	for i, c := range p.PluginConfig {
		path := p.path("pluginConfig[%d].args", i)
		if !isObject(c.Args) {
			errs = append(errs, &FieldError{Field: path, Message: `must have fields: lines such as "guestURL: …" below it, indented further and without "- "`})
			continue
		}
		if t, ok := argsOf(c.Name); ok && !c.wasm {
			errs = append(errs, below(path, yamlcheck.Parse(c.Args).Check(t)))
		}
	}
	return together(errs...)
}

// isObject is true of args with fields, or without anything.
func isObject(args []byte) bool {
	args = bytes.TrimSpace(args)
	return len(args) == 0 || args[0] == '{' || string(args) == "null"
}

// argsOf is the type of the args of one of kube-scheduler's own plugins.
func argsOf(plugin string) (reflect.Type, bool) {
	obj, err := scheme.Scheme.New(schema.GroupVersionKind{
		Group: configv1.GroupName, Version: configv1.SchemeGroupVersion.Version, Kind: plugin + "Args",
	})
	if err != nil {
		return nil, false
	}
	return reflect.TypeOf(obj), true
}

// checkExtenders catches an address that no request can be sent to; kube-scheduler
// would say so of each pod.
func checkExtenders(configuration []byte) error {
	var file struct{ Extenders []struct{ URLPrefix string } }
	if err := yaml.Unmarshal(configuration, &file); err != nil {
		return err
	}
	var errs []error
	for i, extender := range file.Extenders {
		u, err := url.Parse(extender.URLPrefix)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			errs = append(errs, &FieldError{
				Field:   fmt.Sprintf("extenders[%d].urlPrefix", i),
				Message: "must begin with http:// or https:// and a host, as in http://localhost:8000/",
			})
		}
	}
	return together(errs...)
}

// inProfile is how kube-scheduler begins an error about a profile, or about the
// args of a plugin in it.
var inProfile = regexp.MustCompile(`^initializing profiles: creating profile for scheduler name (\S+): (?:initializing plugin "([^"]+)": (?:([a-z]\w*(?:[.\[][\w.\]]+)?): )?)?`)

// locate finds the field that an error of kube-scheduler's set-up is about.
func locate(configuration []byte, err error) error {
	found := inProfile.FindStringSubmatch(err.Error())
	profiles, unread := profilesOf(configuration)
	if found == nil || unread != nil {
		return err
	}
	for _, p := range profiles {
		if p.SchedulerName != found[1] {
			continue
		}
		path, message := p.path(""), strings.TrimPrefix(err.Error(), found[0])
		for i, c := range p.PluginConfig {
			if found[2] != "" && c.Name == found[2] {
				path = strings.TrimSuffix(p.path("pluginConfig[%d].args.%s", i, found[3]), ".")
				message = fmt.Sprintf("plugin %s: %s", found[2], message)
			}
		}
		return &FieldError{Field: path, Message: message}
	}
	return err
}

// profilesOf reads as much of the profiles as concerns plugins.
func profilesOf(configuration []byte) ([]profile, error) {
	var file struct{ Profiles []profile }
	if err := yaml.Unmarshal(configuration, &file); err != nil {
		return nil, err
	}
	for i := range file.Profiles {
		p := &file.Profiles[i]
		p.index = i
		if p.SchedulerName == "" {
			p.SchedulerName = "default-scheduler"
		}
		for c := range p.PluginConfig {
			p.PluginConfig[c].wasm = hasGuest(p.PluginConfig[c].Args)
		}
	}
	return file.Profiles, nil
}
