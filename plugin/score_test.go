package plugin

import (
	"testing"

	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func TestNodesThatThePodPrefersScore(t *testing.T) {
	pl, state, p := newPlugin(t, ""), schedframework.NewCycleState(), pod(regex.PreferAnnotation, "^gpu-")
	status := pl.PreScore(t.Context(), state, p, nil)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	for name, want := range map[string]int64{"gpu-1": 100, "my-gpu-1": 0} {
		score, status := pl.Score(t.Context(), state.Clone(), p, node(name))
		if score != want || !status.IsSuccess() {
			t.Errorf("%s: %d, %v", name, score, status)
		}
	}
}

func TestHooksWithoutTheOnesBeforeAreErrors(t *testing.T) {
	pl, state := newPlugin(t, ""), schedframework.NewCycleState()
	status := pl.Filter(t.Context(), state, pod(), node("a"))
	_, scored := pl.Score(t.Context(), state, pod(), node("a"))
	if status.Code() != framework.Error || scored.Code() != framework.Error {
		t.Errorf("Filter %v, Score %v", status, scored)
	}
}
