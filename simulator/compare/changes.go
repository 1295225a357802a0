package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
)

// Setup is what decides for the pods of a profile: all that a configuration says of
// it, by the names of plugins, the URLs of extenders and the settings below.
type Setup struct {
	Verdicts map[string]string `json:"verdicts"`
	Scores   map[string]string `json:"scores"`
	Preempts []string          `json:"preempts"` // those of Verdicts that make room
}

const (
	percentage = "percentageOfNodesToScore"
	backoff    = "the time between attempts"
	queueSort  = "the order of the queue"
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
			setups[profile.SchedulerName] = newSetup(file, profile, running.ListPlugins())
		}
	}
	return setups, nil
}

func newSetup(file *config.KubeSchedulerConfiguration, profile *config.KubeSchedulerProfile, enabled *config.Plugins) Setup {
	s := Setup{Scores: map[string]string{}, Verdicts: map[string]string{
		percentage: text(ptr.Deref(profile.PercentageOfNodesToScore, ptr.Deref(file.PercentageOfNodesToScore, 0))),
		backoff:    text([]int64{file.PodInitialBackoffSeconds, file.PodMaxBackoffSeconds}),
		queueSort:  text(enabled.QueueSort.Enabled),
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

var aPoint = regexp.MustCompile(`^\["\w+",`)

// withoutPoints leaves out at which points a plugin has a say: in another version of
// Kubernetes that is its code, and no configuration.
func withoutPoints(setups map[string]Setup) map[string]Setup {
	all := maps.Clone(setups)
	for profile, setup := range all {
		setup.Verdicts = maps.Clone(setup.Verdicts)
		for name, text := range setup.Verdicts {
			args, _, _ := strings.Cut(aPoint.ReplaceAllString(text, ""), "][")
			setup.Verdicts[name] = strings.TrimSuffix(args, "]")
		}
		all[profile] = setup
	}
	return all
}

// changes are the names of what is different in the two setups of a profile.
type changes struct {
	verdicts, scores sets.Set[string]
	preempts         []string          // those of verdicts that make room
	settings         map[string]string // what of each is another, as far as that is short
}

func newChanges(a, b map[string]Setup) map[string]changes {
	all := map[string]changes{}
	for profile := range sets.KeySet(a).Union(sets.KeySet(b)) {
		one := changes{verdicts: differing(a[profile].Verdicts, b[profile].Verdicts), scores: differing(a[profile].Scores, b[profile].Scores)}
		one.preempts = sets.List(one.verdicts.Intersection(sets.New(slices.Concat(a[profile].Preempts, b[profile].Preempts)...)))
		one.settings = map[string]string{}
		for name := range one.verdicts.Union(one.scores) {
			if one.settings[name] = setting(a[profile].Verdicts[name], b[profile].Verdicts[name]); one.scores.Has(name) {
				one.settings[name] = setting(a[profile].Scores[name], b[profile].Scores[name])
			}
		}
		all[profile] = one
	}
	return all
}

func differing(a, b map[string]string) sets.Set[string] {
	names := sets.KeySet(a).Union(sets.KeySet(b))
	maps.DeleteFunc(names, func(name string, _ sets.Empty) bool { return a[name] == b[name] })
	return names
}

// tookPart says what of the changes took part in an attempt, and how, but for scores.
func (c changes) tookPart(attempt *recorder.Attempt) (name, how string) {
	for _, column := range attempt.Columns {
		if column.Failed > 0 && c.verdicts.Has(column.Name) {
			return column.Name, fmt.Sprintf("refuses %d of %d nodes", column.Failed, attempt.Total)
		}
	}
	for _, one := range slices.Concat(attempt.PreFilter, attempt.Reserve, attempt.Permit, attempt.PreBind, attempt.Bind) {
		if c.verdicts.Has(one.Plugin) && (one.LimitsNodes || decides.Has(one.Verdict)) {
			return one.Plugin, "has a say"
		}
	}
	notRun := func(g recorder.Group) bool { return g.Verdict == recorder.NotRun }
	switch {
	case attempt.Preemption != nil && len(c.preempts) > 0:
		return c.preempts[0], "makes room"
	case c.verdicts.Has(percentage) && attempt.Hint == nil && slices.ContainsFunc(attempt.Groups, notRun):
		return percentage, "is another"
	case c.verdicts.Has(backoff) && attempt.Number > 1:
		return backoff, "is another"
	case c.verdicts.Has(queueSort):
		return queueSort, "is another"
	}
	return "", ""
}

// decides are the verdicts by which a plugin changes what becomes of a pod.
var decides = sets.New(recorder.Rejected, recorder.Errored, recorder.Waits)

// first is what has turned most by a change, or else by anything.
func (c changes) first(turned map[string]int64) (name string) {
	for _, one := range slices.Sorted(maps.Keys(turned)) {
		if changed, best := c.scores.Has(one), c.scores.Has(name); name == "" || changed && !best || changed == best && turned[one] > turned[name] {
			name = one
		}
	}
	return name
}

// setting says what is another in two texts of newSetup, such as "type LeastAllocated →
// MostAllocated". Long values are left out.
func setting(a, b string) string {
	if a == "" || b == "" {
		return map[bool]string{true: "under B alone", false: "under A alone"}[a == ""]
	}
	var all []string
	onA, onB := settings(a), settings(b)
	for _, name := range sets.List(differing(onA, onB)) {
		if values := cmp.Or(onA[name], " none") + " →" + cmp.Or(onB[name], " none"); len(values) < 60 {
			name += values
		}
		all = append(all, strings.TrimSpace(name))
	}
	return Few(all)
}

var (
	aField  = regexp.MustCompile(`(?:^\[|"(\w+)":)("[^"]*"|[^][{},"]+)`)
	aWeight = regexp.MustCompile(`^\[(\d+),`)
)

// settings are the values in a text of newSetup, by the names of their fields.
func settings(text string) map[string]string {
	first, _, _ := strings.Cut(aWeight.ReplaceAllString(text, `"weight":$1,`), "][") // each extension point has the same
	all := map[string]string{}
	for _, field := range aField.FindAllStringSubmatch(first, -1) {
		all[field[1]] += " " + strings.Trim(field[2], `"`)
	}
	return all
}
