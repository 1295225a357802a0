package compare

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// pushed is a side on which a pod was preempted for the pod "urgent", and another
// one took the node that this one would have had.
func preempted(victim, other string, priority int32, node string) *side.Result {
	attempt := func(id uint64, number int, node string) *recorder.Attempt {
		return &recorder.Attempt{ID: id, Number: number, Result: recorder.Scheduled, Node: node}
	}
	return resultOf(map[types.NamespacedName]side.Outcome{
		side.KeyOf("default/" + victim): {State: engine.Preempted, PreemptedBy: "default/urgent", Since: 1},
		side.KeyOf("default/" + other):  {State: engine.Stayed, Node: "one"},
		side.KeyOf("default/urgent"):    {State: "Scheduled", Node: "one", Attempt: attempt(1, 2, "one"), Victims: []int32{priority}},
		side.KeyOf("default/later"):     {State: "Scheduled", Node: node, Attempt: attempt(2, 1, node)},
	})
}

func TestVictimsOfTheSamePriorityAreATie(t *testing.T) {
	v := judge(preempted("x", "y", 0, "two"), preempted("y", "x", 0, "three"))
	if len(v.differences) != 0 || len(v.ties) != 3 {
		t.Errorf("%d differ, %d ties: %+v", len(v.differences), len(v.ties), v.differences)
	}
	v = judge(preempted("x", "y", 0, "two"), preempted("y", "x", 7, "two"))
	if len(v.ties) != 0 || len(v.differences) != 2 {
		t.Errorf("of other priorities: %d differ, %d ties", len(v.differences), len(v.ties))
	}
}

func TestUnplacedPodsRanAndWereNotPutAside(t *testing.T) {
	waits := side.Outcome{State: "Unschedulable", Message: "no room"}
	for name, test := range map[string]struct {
		unplaced bool
		a        side.Outcome
	}{
		"it waits":                          {unplaced: true, a: waits},
		"the API server refused it":         {unplaced: true, a: side.Outcome{State: side.Refused}},
		"one that ran preempted it":         {unplaced: true, a: side.Outcome{State: engine.Preempted, PreemptedBy: "default/ran-too"}},
		"one that did not run preempted it": {a: side.Outcome{State: engine.Preempted, PreemptedBy: "default/new"}},
		"the scenario deleted it":           {a: side.Outcome{State: engine.Gone}},
		"it has a node":                     {a: side.Outcome{State: "Scheduled", Node: "one"}},
	} {
		pods := map[types.NamespacedName]side.Outcome{side.KeyOf("default/ran"): test.a, side.KeyOf("default/new"): waits}
		pods[side.KeyOf("default/ran-too")] = side.Outcome{State: engine.Gone}
		a := resultOf(pods)
		for _, ran := range []string{"default/ran", "default/ran-too"} {
			a.Pod(side.KeyOf(ran)).Today = "one"
		}
		v := judge(a, resultOf(pods))
		if test.unplaced != (len(v.unplaced) == 1) {
			t.Errorf("%s: unplaced are %+v", name, v.unplaced)
		}
		unplaced := len(v.unplaced)
		if len(v.pending)+unplaced+v.same > 2 || len(v.differences) > 0 {
			t.Errorf("%s: it is counted twice: %+v", name, v)
		}
	}
}
