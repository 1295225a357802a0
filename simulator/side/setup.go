package side

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
)

// Setup is what decides for the pods of a profile: all that a configuration says of
// it, by the names of plugins, the URLs of extenders and the settings below.
type Setup struct {
	Verdicts map[string]string `json:"verdicts"`
	Scores   map[string]string `json:"scores"`
	Preempts []string          `json:"preempts"` // those of Verdicts that make room
}

// Settings that are no plugin's.
const (
	PercentageOfNodesToScore = "percentageOfNodesToScore"
	Backoff                  = "the time between attempts"
	QueueSort                = "the order of the queue"
)

func newSetups(text []byte, profiles map[string]framework.Framework) (map[string]Setup, error) {
	config, err := scheduler.Read(text)
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
		if running := profiles[profile.SchedulerName]; running != nil {
			setups[profile.SchedulerName] = NewSetup(file, profile, running.ListPlugins())
		}
	}
	return setups, nil
}

// NewSetup is what decides for the pods of a profile. Enabled are its plugins, by extension
// point.
func NewSetup(file *config.KubeSchedulerConfiguration, profile *config.KubeSchedulerProfile, enabled *config.Plugins) Setup {
	s := Setup{Scores: map[string]string{}, Verdicts: map[string]string{
		PercentageOfNodesToScore: text(ptr.Deref(profile.PercentageOfNodesToScore, ptr.Deref(file.PercentageOfNodesToScore, 0))),
		Backoff:                  text([]int64{file.PodInitialBackoffSeconds, file.PodMaxBackoffSeconds}),
		QueueSort:                text(enabled.QueueSort.Enabled),
	}}
	args := map[string]any{}
	for _, one := range profile.PluginConfig {
		args[one.Name] = argsOf(one.Args)
	}
	points := reflect.ValueOf(*enabled)
	for i := range points.NumField() {
		for _, one := range points.Field(i).Interface().(config.PluginSet).Enabled {
			switch point := points.Type().Field(i).Name; point {
			case "PreScore": // what it does there, Score tells
			case "Score":
				s.Scores[one.Name] = text(one.Weight, args[one.Name])
			case "PostFilter":
				s.Preempts = append(s.Preempts, one.Name)
				fallthrough
			default:
				s.Verdicts[one.Name] += text(point, forVerdicts(args[one.Name]))
			}
		}
	}
	for _, extender := range file.Extenders {
		s.Verdicts[extender.URLPrefix] += text(extender)
		s.Scores[extender.URLPrefix] = s.Verdicts[extender.URLPrefix]
		if extender.PreemptVerb != "" {
			s.Preempts = append(s.Preempts, extender.URLPrefix)
		}
	}
	return s
}

// text is the same for what is the same.
func text(of ...any) string {
	raw, err := json.Marshal(of)
	if err != nil {
		return fmt.Sprintf("%+v", of)
	}
	return string(raw)
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

// forVerdicts leaves out of args what only scores depend on.
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
