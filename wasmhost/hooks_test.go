package wasmhost

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func TestPostFilterSucceedsOnlyWithANomination(t *testing.T) {
	tests := []struct {
		name, guest, pod string
		code             fwk.Code
		reason           string
	}{
		{name: "no postfilter", guest: "empty_filter", pod: "p", code: fwk.Unschedulable},
		{name: "no postfilter, and a share in the binding cycle", guest: "filter_permit", pod: "p", code: fwk.Unschedulable},
		{name: "nothing to say", guest: "postfilter", pod: "quiet1", code: fwk.Unschedulable},
		{name: "nothing to say, and a share in the binding cycle", guest: "every_hook", pod: "p", code: fwk.Unschedulable},
		{name: "a reason", guest: "postfilter", pod: "reason", code: fwk.Unschedulable, reason: "I remember: reason"},
		{name: "a nomination", guest: "postfilter", pod: "nomina", code: fwk.Success},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pl, state, p := open(t, tt.guest), framework.NewCycleState(), pod(tt.pod)
			if _, status := preFilter(t.Context(), pl, state, p); !status.IsSuccess() {
				t.Fatal(status)
			}
			result, status := pl.(fwk.PostFilterPlugin).PostFilter(t.Context(), state, p, framework.NewDefaultNodeToStatus())
			if status.Code() != tt.code || status.Message() != tt.reason {
				t.Errorf("got %v %q, want %v %q", status.Code(), status.Message(), tt.code, tt.reason)
			}
			if status.IsSuccess() && (result.NominatedNodeName != "node-1" || result.Mode() != fwk.ModeOverride) {
				t.Errorf("nominated %+v", result.NominatingInfo)
			}
		})
	}
}

// The framework wraps the error of such a status, which has none.
func TestStatusCodeThatAHookMayNotReturnIsNamed(t *testing.T) {
	for config, want := range map[string]string{"4": "wasm: filter returned the status code 4, Wait", "5": "wasm: filter returned the status code 5, Skip"} {
		pl := openWith(t, "echo_result", Args{GuestConfig: config}, nil)
		status := schedule(t.Context(), pl, pod("web"), "n")[0]
		if status.Code() != fwk.Error || !strings.Contains(status.AsError().Error(), want) {
			t.Errorf("code %s: %v", config, status)
		}
	}
}

func TestPostFilterDoesNotSpeakOfAnotherCycle(t *testing.T) {
	pl, before := open(t, "postfilter"), framework.NewCycleState()
	first, second := pod("secret"), pod("public")
	if _, status := preFilter(t.Context(), pl, before, first); !status.IsSuccess() {
		t.Fatal(status)
	}
	for name, p := range map[string]*v1.Pod{"another pod": second, "the same pod, tried again": first} {
		// An earlier plugin's PreFilter has rejected it.
		_, status := pl.(fwk.PostFilterPlugin).PostFilter(t.Context(), framework.NewCycleState(), p, nil)
		if status.Code() != fwk.Unschedulable || status.Message() != "" {
			t.Errorf("%s: %v %q", name, status.Code(), status.Message())
		}
	}
	_, status := pl.(fwk.PostFilterPlugin).PostFilter(t.Context(), before, first, nil)
	if status.Message() != "I remember: secret" {
		t.Errorf("in its own cycle: %v %q", status.Code(), status.Message())
	}
}
