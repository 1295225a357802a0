package side

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	v1 "k8s.io/kubernetes/pkg/scheduler/apis/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// Setup is what decides for the pods of a profile: all that a configuration says of
// it, by the names of plugins, the URLs of extenders and the settings below.
type Setup struct {
	Verdicts map[string]Settings `json:"verdicts"`
	Scores   map[string]Settings `json:"scores"`
	Preempts []string            `json:"preempts"` // of Verdicts: what preempts pods
}

// Settings are what is set of a plugin, of an extender, or of the scheduler.
type Settings struct {
	Points []string          `json:"points,omitempty"` // the extension points at which a plugin is enabled
	Values map[string]string `json:"values"`           // by the path of the field. A list is JSON
}

// Settings that are no plugin's.
const (
	PercentageOfNodesToScore = "percentageOfNodesToScore"
	Backoff                  = "the time between attempts"
	QueueSort                = "the order of the queue"
)

func newSetups(text []byte, profiles map[string]framework.Framework) (map[string]Setup, error) {
	config, err := kubescheduler.Read(text)
	if err != nil {
		return nil, err
	}
	file, err := config.Effective()
	if err != nil {
		return nil, err
	}
	setups := map[string]Setup{}
	for i := range file.Profiles {
		profile := &file.Profiles[i]
		running := profiles[profile.SchedulerName]
		if running != nil {
			setups[profile.SchedulerName] = NewSetup(file, profile, running.ListPlugins())
		}
	}
	return setups, nil
}

// NewSetup is what decides for the pods of a profile. Enabled are its plugins, by extension
// point.
func NewSetup(file *config.KubeSchedulerConfiguration, profile *config.KubeSchedulerProfile, enabled *config.Plugins) Setup {
	s := Setup{Scores: map[string]Settings{}, Verdicts: map[string]Settings{
		PercentageOfNodesToScore: values(ptr.Deref(profile.PercentageOfNodesToScore, ptr.Deref(file.PercentageOfNodesToScore, 0))),
		Backoff:                  values(map[string]any{"podInitialBackoffSeconds": file.PodInitialBackoffSeconds, "podMaxBackoffSeconds": file.PodMaxBackoffSeconds}),
		QueueSort:                values(enabled.QueueSort.Enabled),
	}}
	args := map[string]any{}
	for _, one := range profile.PluginConfig {
		args[one.Name] = argsOf(one.Args)
	}
	points := reflect.ValueOf(*enabled)
	for i := range points.NumField() {
		point := points.Type().Field(i).Name
		for _, one := range points.Field(i).Interface().(config.PluginSet).Enabled {
			s.add(point, one, args[one.Name])
		}
	}
	for i := range file.Extenders {
		s.addExtender(&file.Extenders[i])
	}
	return s
}

func (s *Setup) add(point string, one config.Plugin, args any) {
	switch point {
	case "PreScore": // which Score shows
		return
	case "Score":
		s.Scores[one.Name] = values(args)
		s.Scores[one.Name].Values["weight"] = fmt.Sprint(one.Weight)
		return
	case "PostFilter":
		s.Preempts = append(s.Preempts, one.Name)
	}
	is, known := s.Verdicts[one.Name]
	if !known {
		is = values(forVerdicts(args))
	}
	is.Points = append(is.Points, point)
	s.Verdicts[one.Name] = is
}

func (s *Setup) addExtender(extender *config.Extender) {
	var typed configv1.Extender
	if err := v1.Convert_config_Extender_To_v1_Extender(extender, &typed, nil); err != nil {
		return // of two structs with the same fields
	}
	is := values(typed)
	shown := printable.URL(extender.URLPrefix)
	if another, ok := s.Verdicts[shown]; ok {
		is.Values = map[string]string{"extenders of this URL": fmt.Sprint(another.Values, is.Values)}
	}
	s.Verdicts[shown], s.Scores[shown] = is, is
	if extender.PreemptVerb != "" {
		s.Preempts = append(s.Preempts, shown)
	}
}

// values are all fields of something, by their paths as in a file.
func values(of any) Settings {
	s := Settings{Values: map[string]string{}}
	if internal, ok := of.(runtime.Object); ok {
		if typed, err := scheme.Scheme.ConvertToVersion(internal, configv1.SchemeGroupVersion); err == nil {
			of = typed
		}
	}
	var fields any
	raw, err := json.Marshal(of)
	if err != nil || json.Unmarshal(raw, &fields) != nil {
		fields = fmt.Sprintf("%+v", of)
	}
	s.flatten("", fields)
	delete(s.Values, "kind")
	delete(s.Values, "apiVersion")
	return s
}

func (s *Settings) flatten(path string, value any) {
	switch value := value.(type) {
	case nil:
	case map[string]any:
		for name, field := range value {
			s.flatten(strings.TrimPrefix(path+"."+name, "."), field)
		}
	case string:
		if path == "guestURL" || path == "urlPrefix" {
			value = printable.URL(value)
		}
		s.Values[path] = value
	default:
		raw, _ := json.Marshal(value) // which came from JSON
		s.Values[path] = string(raw)
	}
}

func argsOf(args runtime.Object) any {
	unknown, ok := args.(*runtime.Unknown)
	if !ok {
		return args
	}
	var fields any
	if yaml.Unmarshal(unknown.Raw, &fields) != nil {
		return string(unknown.Raw)
	}
	return fields
}

// forVerdicts drops the args that affect only scores.
func forVerdicts(args any) any {
	switch args := args.(type) {
	case *config.InterPodAffinityArgs:
		return nil
	case *config.NodeResourcesFitArgs:
		fit := args.DeepCopy()
		fit.ScoringStrategy = nil
		return fit
	case *config.VolumeBindingArgs:
		bind := args.DeepCopy()
		bind.Shape = nil
		return bind
	}
	return args
}
