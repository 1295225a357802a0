package wasmhost

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func TestPostFilterDoesNotSpeakOfAnotherCycle(t *testing.T) {
	pl, before := open(t, "postfilter"), framework.NewCycleState()
	first, second := pod("secret"), pod("public")
	_, status := preFilter(t.Context(), pl, before, first)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	for name, p := range map[string]*v1.Pod{"another pod": second, "the same pod, tried again": first} {
		// An earlier plugin's PreFilter has rejected it.
		_, status := pl.(fwk.PostFilterPlugin).PostFilter(t.Context(), framework.NewCycleState(), p, nil)
		if status.Code() != fwk.Unschedulable || status.Message() != "" {
			t.Errorf("%s: %v %q", name, status.Code(), status.Message())
		}
	}
	_, status = pl.(fwk.PostFilterPlugin).PostFilter(t.Context(), before, first, nil)
	if status.Message() != "I remember: secret" {
		t.Errorf("in its own cycle: %v %q", status.Code(), status.Message())
	}
}
