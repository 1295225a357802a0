package plugin

import (
	"testing"

	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func TestNodesThatThePodPrefersScore(t *testing.T) {
	pl, state, p := newPlugin(t, ""), schedframework.NewCycleState(), pod(regex.PreferAnnotation, "^gpu-")
	if status := pl.PreScore(t.Context(), state, p, nil); !status.IsSuccess() {
		t.Fatal(status)
	}
	for name, want := range map[string]int64{"gpu-1": 100, "my-gpu-1": 0} {
		if score, status := pl.Score(t.Context(), state.Clone(), p, node(name)); score != want || !status.IsSuccess() {
			t.Errorf("%s: %d, %v", name, score, status)
		}
	}
}

func TestAPodThatPrefersNothingIsNotScored(t *testing.T) {
	pl, state, p := newPlugin(t, ""), schedframework.NewCycleState(), pod(regex.Annotation, "gpu")
	if status := pl.PreScore(t.Context(), state, p, nil); !status.IsSkip() {
		t.Error(status)
	}
	if _, status := pl.Score(t.Context(), state, p, node("gpu-1")); status.Code() != framework.Error {
		t.Errorf("score without PreScore: %v", status)
	}
}
