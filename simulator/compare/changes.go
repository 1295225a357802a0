package compare

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
)

// setup is what decides for the pods of a profile, by the names of plugins, the URLs
// of extenders and the settings below.
type setup struct {
	verdicts, scores map[string]any
	preempts         sets.Set[string] // those of verdicts that make room
}

// Settings that are no plugin's.
const (
	percentage = "percentageOfNodesToScore"
	backoff    = "the time between attempts"
	queueSort  = "the order of the queue"
)

// plugin is all that a configuration says of a plugin.
type plugin struct {
	points []string
	weight int32
	args   any
}

// newSetups are those of a scheduler, by the name of the profile.
func newSetups(text []byte, profiles map[string]framework.Framework) (map[string]setup, error) {
	config, err := scheduler.Read(text)
	if err != nil {
		return nil, err
	}
	file, err := config.Effective()
	if err != nil {
		return nil, err
	}
	setups := map[string]setup{}
	for i := range file.Profiles {
		profile := &file.Profiles[i]
		if running := profiles[profile.SchedulerName]; running != nil {
			setups[profile.SchedulerName] = newSetup(file, profile, running.ListPlugins())
		}
	}
	return setups, nil
}

func newSetup(file *config.KubeSchedulerConfiguration, profile *config.KubeSchedulerProfile, enabled *config.Plugins) setup {
	s := setup{map[string]any{}, map[string]any{}, sets.New[string]()}
	s.verdicts[percentage] = ptr.Deref(profile.PercentageOfNodesToScore, ptr.Deref(file.PercentageOfNodesToScore, 0))
	s.verdicts[backoff] = [...]int64{file.PodInitialBackoffSeconds, file.PodMaxBackoffSeconds}
	s.verdicts[queueSort] = enabled.QueueSort.Enabled
	args := map[string]any{}
	for _, one := range profile.PluginConfig {
		args[one.Name] = argsOf(one.Args)
	}
	points := reflect.ValueOf(*enabled)
	for i := range points.NumField() {
		point := points.Type().Field(i).Name
		for _, one := range points.Field(i).Interface().(config.PluginSet).Enabled {
			s.enable(point, one, args[one.Name])
		}
	}
	for _, extender := range file.Extenders {
		same, _ := s.verdicts[extender.URLPrefix].([]config.Extender)
		s.verdicts[extender.URLPrefix] = append(same, extender)
		s.scores[extender.URLPrefix] = s.verdicts[extender.URLPrefix]
		if extender.PreemptVerb != "" {
			s.preempts.Insert(extender.URLPrefix)
		}
	}
	return s
}

// enable takes note of a plugin at one of its extension points.
func (s *setup) enable(point string, enabled config.Plugin, args any) {
	switch point {
	case "PreScore":
		return // what it does there, Score tells
	case "Score":
		s.scores[enabled.Name] = plugin{weight: enabled.Weight, args: args}
		return
	case "PostFilter":
		s.preempts.Insert(enabled.Name)
	}
	before, _ := s.verdicts[enabled.Name].(plugin)
	s.verdicts[enabled.Name] = plugin{points: append(before.points, point), args: forVerdicts(args)}
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
	}
	return args
}

// changes are the names of what is different in the two setups of a profile.
type changes struct {
	verdicts, scores sets.Set[string]
	preempts         []string // those of verdicts that make room
}

func newChanges(a, b map[string]setup) map[string]changes {
	all := map[string]changes{}
	for profile := range sets.KeySet(a).Union(sets.KeySet(b)) {
		one := changes{verdicts: differing(a[profile].verdicts, b[profile].verdicts), scores: differing(a[profile].scores, b[profile].scores)}
		one.preempts = sets.List(one.verdicts.Intersection(a[profile].preempts.Union(b[profile].preempts)))
		all[profile] = one
	}
	return all
}

func differing(a, b map[string]any) sets.Set[string] {
	names := sets.New[string]()
	for name := range sets.KeySet(a).Union(sets.KeySet(b)) {
		if !reflect.DeepEqual(a[name], b[name]) {
			names.Insert(name)
		}
	}
	return names
}

// part says what of the changes took part in an attempt, but for scores.
func (c changes) part(attempt *recorder.Attempt) string {
	for _, column := range attempt.Columns {
		if column.Failed > 0 && c.verdicts.Has(column.Name) {
			return fmt.Sprintf("%s refuses %d of %d nodes", column.Name, column.Failed, attempt.Total)
		}
	}
	for _, said := range slices.Concat(attempt.PreFilter, attempt.Reserve, attempt.Permit, attempt.PreBind, attempt.Bind) {
		if c.verdicts.Has(said.Plugin) && (said.LimitsNodes || speaks[said.Verdict]) {
			return said.Plugin + " has a say"
		}
	}
	notRun := func(g recorder.Group) bool { return g.Verdict == recorder.NotRun }
	switch {
	case attempt.Preemption != nil && len(c.preempts) > 0:
		return c.preempts[0] + " makes room"
	case c.verdicts.Has(percentage) && attempt.Hint == nil && slices.ContainsFunc(attempt.Groups, notRun):
		return percentage + " is another"
	case c.verdicts.Has(backoff) && attempt.Number > 1:
		return backoff + " is another"
	case c.verdicts.Has(queueSort):
		return queueSort + " is another"
	}
	return ""
}

// speaks are the verdicts by which a plugin changes what becomes of a pod.
var speaks = map[recorder.Verdict]bool{recorder.Rejected: true, recorder.Errored: true, recorder.Waits: true}

// first is what has turned most by a change, or else by anything.
func (c changes) first(turned map[string]int64) (name string) {
	for _, one := range slices.Sorted(maps.Keys(turned)) {
		if changed, best := c.scores.Has(one), c.scores.Has(name); name == "" || changed && !best || changed == best && turned[one] > turned[name] {
			name = one
		}
	}
	return name
}
