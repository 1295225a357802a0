package stages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var now = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// fixed are dice that fall on a part of what is asked for.
type fixed float64

func (f fixed) Int64N(n int64) int64 { return int64(float64(f) * float64(n)) }

// a makes an object of a manifest: a pod or a node in its type, as kubelets have it.
func a(t *testing.T, manifest string) *Object {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		t.Fatal(err)
	}
	var typed metav1.Object = u
	switch u.GetKind() {
	case "Pod":
		typed = &v1.Pod{}
	case "Node":
		typed = &v1.Node{}
	}
	if typed != metav1.Object(u) {
		if err := yaml.Unmarshal([]byte(manifest), typed); err != nil {
			t.Fatal(err)
		}
	}
	return NewObject(typed)
}

// of is the kind of an object in these tests.
func of(o *Object) Ref {
	switch o.Object.(type) {
	case *v1.Pod:
		return Pods
	case *v1.Node:
		return Nodes
	}
	return Ref{"example.com/v1", "Thing"}
}

const (
	aPod = `{kind: Pod, metadata: {name: web, labels: {app: web}, annotations: {runs: 5s, at: "2026-11-22T10:00:07Z", no: much, none: "", seven: "7", before: "2026-11-22T09:00:00Z"},
  creationTimestamp: "2026-01-01T00:00:00Z"},
  spec: {nodeName: n1, hostNetwork: true, containers: [{name: c, resources: {requests: {cpu: 500m}}}]},
  status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`
	aNode  = `{kind: Node, metadata: {name: n1, labels: {app: web}}, status: {allocatable: {cpu: "4"}}}`
	aThing = `{apiVersion: example.com/v1, kind: Thing, metadata: {name: one}, spec: {size: 3, enabled: true}}`
)

func TestSelectors(t *testing.T) {
	jq := func(key, operator string, values ...string) string {
		return fmt.Sprintf("matchExpressions: [{jq: {key: '%s', operator: %s, values: [%s]}}]", key, operator, strings.Join(values, ", "))
	}
	cel := func(expression string) string {
		return fmt.Sprintf("matchExpressions: [{cel: {expression: '%s'}}]", expression)
	}
	for _, c := range []struct {
		object, selector string
		want             bool
	}{
		{aPod, "", true},
		{aPod, "matchLabels: {app: web}", true},
		{aPod, "matchLabels: {app: api}", false},
		{aPod, "matchAnnotations: {runs: 5s}", true},
		{aPod, "matchAnnotations: {runs: 6s}", false},
		{aPod, "matchLabels: {app: web}, " + jq(".status.phase", "In", "Pending"), false},
		{aPod, "matchExpressions: [{key: .status.phase, operator: In, values: [Running]}]", true},
		{aPod, jq(".status.phase", "In", "Pending", "Running"), true},
		{aPod, jq(".status.phase", "NotIn", "Running"), false},
		{aPod, jq(".status.podIP", "NotIn", "10.0.0.1"), true},
		{aPod, jq(".status.podIP", "Exists"), false},
		{aPod, jq(".status.podIP", "DoesNotExist"), true},
		{aPod, jq(".status.conditions.[] | select( .type == \"Ready\" ) | .status", "In", `"True"`), true},
		{aPod, jq(".spec.hostNetwork", "In", `"true"`), true},
		{aPod, jq(".spec.containers | length", "In", `"1"`), true},
		{aPod, jq(".spec.nodeName.x", "Exists"), false},       // fails, and so finds nothing
		{aPod, jq(".spec.nodeName.x", "DoesNotExist"), true},  // likewise
		{aThing, jq(".spec.size", "In", `"3"`), false},        // a float to KWOK, too
		{aThing, jq(".spec.size == 3", "In", `"true"`), true}, // so ask like this
		{aPod, cel(`self.status.phase == "Running"`), true},
		{aPod, cel(`self.status.podIP == "" && !has(self.metadata.deletionTimestamp)`), true}, // what a pod does not have is empty
		{aPod, cel(`self.metadata.labels["app"] == "web"`), true},
		{aPod, cel(`self.spec.containers[0].resources.requests["cpu"] > Quantity("100m")`), true},
		{aPod, cel(`self.spec.containers[0].resources.requests["cpu"] * 2 == Quantity("1")`), true},
		{aPod, cel(`SinceSecond(self) > 3600.0 && self.SinceSecond() > 0.0`), true},
		{aPod, cel(`UnixSecond(self.metadata.creationTimestamp) == 1767225600.0`), true},
		{aPod, cel(`Now() - self.metadata.creationTimestamp > duration("1h")`), true},
		{aPod, cel(`Rand() < 1.0`), true},
		{aNode, cel(`self.status.allocatable["cpu"] - Quantity("1") == Quantity("3") && "cpu" in self.status.allocatable`), true},
		{aNode, cel(`size(self.status.allocatable) == 1 && -self.status.allocatable["cpu"] + Quantity("5") == Quantity("4") / 4`), true},
		{aThing, cel(`self.spec.size == 3 && self.spec.enabled`), true},
		{aThing, cel(`has(self.spec.none)`), false},
		{aPod, "matchExpressions: [{cel: {expression: 'true'}}, {key: .status.phase, operator: In, values: [Pending]}]", false},
	} {
		o := a(t, c.object)
		set := read(t, stageOf(of(o).APIVersion, of(o).Kind, "  selector: {"+c.selector+"}"))
		stage, err := set.Of(of(o)).Next(t.Context(), o, fixed(0))
		if err != nil || (stage != nil) != c.want {
			t.Errorf("%s: %v, %v, want %v", c.selector, stage != nil, err, c.want)
		}
	}
}

func TestCELThatFailsSaysOfWhichStage(t *testing.T) {
	o := a(t, aThing)
	set := read(t, stageOf("example.com/v1", "Thing", "  selector: {matchExpressions: [{cel: {expression: self.spec.none == 1}}]}"))
	_, err := set.Of(of(o)).Next(t.Context(), o, fixed(0))
	if want := "stage tried: selector: cel: no such key: none"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAStageWithoutASelectorMatchesNothing(t *testing.T) {
	set := read(t, stage("  weight: 1"))
	if found := set.Of(Pods); len(found) != 1 {
		t.Errorf("%d stages of pods: they would be left alone", len(found))
	}
	if stage, err := set.Of(Pods).Next(t.Context(), a(t, aPod), fixed(0)); stage != nil || err != nil {
		t.Errorf("%v, %v", stage, err)
	}
}

func TestJQThatNeverEndsIsEnded(t *testing.T) {
	set := read(t, stage("  selector: {matchExpressions: [{key: 'last(repeat(1))', operator: Exists}]}"))
	ctx, cancel := withTimeout(t, 50*time.Millisecond)
	defer cancel()
	if _, err := set.Of(Pods).Next(ctx, a(t, aPod), fixed(0)); err == nil {
		t.Error("nobody is told")
	}
}

func TestStagesAreDrawnByWeight(t *testing.T) {
	stages := func(weights ...string) string {
		var all []string
		for i, weight := range weights {
			all = append(all, strings.Replace(stage(anything+"  "+weight), "tried", fmt.Sprint("s", i), 1))
		}
		return strings.Join(all, "---\n")
	}
	from := func(jq string) string { return fmt.Sprintf("weightFrom: {jq: {expression: '%s'}}", jq) }
	for _, c := range []struct {
		stages string
		dice   fixed
		want   string
	}{
		{stages("weight: 0"), 0, "s0"},
		{stages("weight: 1", "weight: 3"), 0.2, "s0"},
		{stages("weight: 1", "weight: 3"), 0.3, "s1"},
		{stages("weight: 0", "weight: 3"), 0, "s1"},
		{stages("weight: 0", "weight: 0"), 0, "s0"},
		{stages("weight: 0", "weight: 0"), 0.5, "s1"},
		{stages("weight: 1", from(`.metadata.annotations["seven"]`)), 0.2, "s1"},                        // 1 and 7
		{stages("weight: 1", from(`.metadata.annotations["none"]`)), 0.9, "s0"},                         // empty: it has none
		{stages(from(`.metadata.annotations["none"]`), "weight: 0"), 0, "s1"},                           // of those that have one
		{stages(from(`.metadata.annotations["none"]`), from(`.metadata.annotations["no"]`)), 0.5, "s1"}, // or all
		{stages("weight: 1", "weight: 3\n  "+from(".spec.missing")), 0.3, "s1"},
		{stages("weight: 1", from("3")), 0.3, "s0"}, // a number that jq makes is none to KWOK: 0
		{stages("weight: 1", "weightFrom: {cel: {expression: 'size(self.spec.containers) * 3'}}"), 0.3, "s1"},
	} {
		set := read(t, c.stages)
		stage, err := set.Of(Pods).Next(t.Context(), a(t, aPod), c.dice)
		if err != nil || stage == nil || stage.Name != c.want {
			t.Errorf("%s: %+v, %v, want %s", c.stages, stage, err, c.want)
		}
	}
}

func TestDelays(t *testing.T) {
	annotation := func(name string) string {
		return fmt.Sprintf(`{jq: {expression: '.metadata.annotations["%s"]'}}`, name)
	}
	for _, c := range []struct {
		delay string
		dice  fixed
		want  time.Duration
	}{
		{"{}", 0, 0},
		{"{durationMilliseconds: 1500}", 0, 1500 * time.Millisecond},
		{"{durationMilliseconds: 1000, durationFrom: " + annotation("runs") + "}", 0, 5 * time.Second},
		{"{durationMilliseconds: 1000, durationFrom: {expressionFrom: '.metadata.annotations[\"runs\"]'}}", 0, 5 * time.Second},
		{"{durationMilliseconds: 1000, durationFrom: " + annotation("at") + "}", 0, 7 * time.Second},
		{"{durationMilliseconds: 1000, durationFrom: " + annotation("no") + "}", 0, time.Second},
		{"{durationMilliseconds: 1000, durationFrom: " + annotation("none") + "}", 0, 0},
		{"{durationMilliseconds: 1000, durationFrom: " + annotation("missing") + "}", 0, time.Second},
		{"{durationFrom: " + annotation("missing") + "}", 0, 0},
		{"{durationFrom: " + annotation("before") + "}", 0, -time.Hour},
		{"{durationFrom: {cel: {expression: 'duration(\"3s\")'}}}", 0, 3 * time.Second},
		{"{durationFrom: {cel: {expression: 'self.metadata.annotations[\"runs\"]'}}}", 0, 5 * time.Second},
		{"{durationMilliseconds: 1000, jitterDurationMilliseconds: 5000}", 0, time.Second},
		{"{durationMilliseconds: 1000, jitterDurationMilliseconds: 5000}", 0.5, 3 * time.Second},
		{"{durationMilliseconds: 5000, jitterDurationMilliseconds: 1000}", 0.5, time.Second}, // the smaller one is taken as it is
		{"{durationMilliseconds: 1000, jitterDurationFrom: " + annotation("runs") + "}", 0.5, 3 * time.Second},
		{"{durationMilliseconds: 1000, jitterDurationFrom: " + annotation("missing") + "}", 0.5, time.Second},
		{"{durationMilliseconds: 1000, jitterDurationMilliseconds: 3000, jitterDurationFrom: " + annotation("missing") + "}", 0.5, 2 * time.Second},
	} {
		set := read(t, stage(anything+"  delay: "+c.delay))
		wait, err := set.Of(Pods)[0].Wait(t.Context(), a(t, aPod), now, c.dice)
		if err != nil || wait != c.want {
			t.Errorf("%s: %s, %v, want %s", c.delay, wait, err, c.want)
		}
	}
}
