package compare

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// setupsOf are the setups of a scheduler in which each plugin filters and scores.
func setupsOf(t *testing.T, text string) map[string]side.Setup {
	t.Helper()
	config, err := kubescheduler.Read([]byte(text))
	testkit.Must(t, err)
	file, err := config.Effective()
	testkit.Must(t, err)
	setups := map[string]side.Setup{}
	for i := range file.Profiles {
		all := file.Profiles[i].Plugins.MultiPoint
		setups[file.Profiles[i].SchedulerName] = side.NewSetup(file, &file.Profiles[i], &schedulerconfig.Plugins{Filter: all, Score: all})
	}
	return setups
}

func TestChangesAreWhatDiffers(t *testing.T) {
	const wasm = "profiles: [{plugins: {multiPoint: {enabled: [{name: W}]}}, pluginConfig: [{name: W, args: %s}]}]"
	args := func(args string) string { return fmt.Sprintf(wasm, args) }
	for name, test := range map[string]struct{ a, b, verdicts, scores string }{
		"nothing":              {"profiles: [{}]", "profiles: [{schedulerName: default-scheduler}]", "[]", "[]"},
		"a plugin":             {"profiles: [{}]", args("{guestURL: x}"), "[W]", "[W]"},
		"the order of args":    {args("{guestURL: x, instances: 1}"), args("{instances: 1, guestURL: x}"), "[]", "[]"},
		"args":                 {args("{guestURL: x}"), args("{guestURL: y}"), "[W]", "[W]"},
		"a profile of another": {"profiles: [{}]", "profiles: [{schedulerName: default-scheduler}, {schedulerName: other, percentageOfNodesToScore: 5}]", "[]", "[]"},
		"a weight": {
			"profiles: [{}]", "profiles: [{plugins: {multiPoint: {disabled: [{name: ImageLocality}], enabled: [{name: ImageLocality, weight: 9}]}}}]",
			"[]", "[ImageLocality]",
		},
		"args for scores alone": {
			"profiles: [{}]", "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}]}]",
			"[]", "[NodeResourcesFit]",
		},
		"a setting": {"percentageOfNodesToScore: 5", "profiles: [{percentageOfNodesToScore: 6}]", "[percentageOfNodesToScore]", "[]"},
		"an extender": {
			"extenders: [{urlPrefix: http://a, filterVerb: filter, weight: 1}]", "extenders: [{urlPrefix: http://a, filterVerb: filter, weight: 2}]",
			"[http://a]", "[http://a]",
		},
	} {
		for _, turn := range [][]string{{test.a, test.b}, {test.b, test.a}} {
			got := newChanges(setupsOf(t, turn[0]), setupsOf(t, turn[1]), false)["default-scheduler"]
			if fmt.Sprint(sets.List(got.verdicts)) != test.verdicts || fmt.Sprint(sets.List(got.scores)) != test.scores {
				t.Errorf("%s: for verdicts %v, for scores %v", name, sets.List(got.verdicts), sets.List(got.scores))
			}
		}
	}
}

// TestDifferencesAreDirectIfAChangeTookPart has a pod that is on node one under A and on two under B, and what
// the attempts have of that.
func TestDifferencesAreDirectIfAChangeTookPart(t *testing.T) {
	refused := func(plugin string, nodes int) []recorder.Column {
		return []recorder.Column{{Name: plugin, Failed: nodes}}
	}
	changed := changes{verdicts: sets.New("New", side.PercentageOfNodesToScore), preempts: []string{"New"}}
	for name, test := range map[string]struct {
		direct  bool
		attempt recorder.Attempt
		other   recorder.Attempt // of the pod "other"
	}{
		"if what is new refuses a node":      {direct: true, attempt: recorder.Attempt{Columns: refused("New", 1)}},
		"if it names the nodes":              {direct: true, attempt: recorder.Attempt{PreFilter: []recorder.PluginVerdict{{Plugin: "New", LimitsNodes: true}}}},
		"if it makes room":                   {direct: true, attempt: recorder.Attempt{Preemption: &recorder.Preemption{}}},
		"if fewer nodes were looked at":      {direct: true, attempt: recorder.Attempt{Groups: []recorder.Group{{Verdict: recorder.NotRun}}}},
		"if it decided for the pod before":   {direct: true, attempt: recorder.Attempt{Hint: &recorder.Hint{Pod: "default/other"}}, other: recorder.Attempt{Columns: refused("New", 1)}},
		"not if it refuses no node":          {attempt: recorder.Attempt{Columns: refused("New", 0)}},
		"not if one that is on both refuses": {attempt: recorder.Attempt{Columns: refused("Old", 1)}},
		"not if it decided for another pod":  {other: recorder.Attempt{Columns: refused("New", 1)}},
	} {
		test.attempt.Scheduler, test.other.Scheduler = "s", "s"
		pod, other := side.KeyOf("default/pod"), side.KeyOf("default/other")
		placed := func(node string, attempt recorder.Attempt) *side.Result {
			return resultOf(map[types.NamespacedName]side.Outcome{pod: {Node: node, Attempt: &attempt}, other: {Node: "x", Attempt: &test.other}})
		}
		a, b := placed("one", recorder.Attempt{Scheduler: "s"}), placed("two", test.attempt)
		v := newVerdicts(a, b)
		v.changes = map[string]changes{"s": changed}
		d := v.difference(pod)
		if d.Follows == test.direct {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestPodsThatOneSideDoesNotTryDifferDirectly(t *testing.T) {
	pod := side.KeyOf("default/pod")
	a := resultOf(map[types.NamespacedName]side.Outcome{pod: {Node: "one", Attempt: &recorder.Attempt{Scheduler: "mine"}}})
	b := resultOf(map[types.NamespacedName]side.Outcome{pod: {State: engine.NotAsked, Message: "no profile is called mine"}})
	v := judge(a, b)
	if len(v.differences) != 1 || v.differences[0].Follows {
		t.Errorf("%+v", v.differences)
	}
}

func TestExtensionPointsAreNoConfiguration(t *testing.T) {
	setup := func(value string, points ...string) map[string]side.Setup {
		return map[string]side.Setup{"p": {Verdicts: map[string]side.Settings{"P": {Points: points, Values: map[string]string{"a": value}}}}}
	}
	for _, test := range []struct {
		a, b  map[string]side.Setup
		other bool
	}{
		{setup("", "PreFilter", "Filter"), setup("", "Filter"), false},
		{setup("1", "PreFilter"), setup("2", "PreFilter"), true},
		{setup("1", "PreFilter"), map[string]side.Setup{"p": {}}, true},
	} {
		differs := newChanges(test.a, test.b, false)["p"].verdicts.Has("P")
		if !differs {
			t.Errorf("%v and %v are the same", test.a, test.b)
		}
		differs = newChanges(test.a, test.b, true)["p"].verdicts.Has("P")
		if differs != test.other {
			t.Errorf("%v and %v differ: %t", test.a, test.b, differs)
		}
	}
}
