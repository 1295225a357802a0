package wasmhost

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
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

func TestPostFilterNominatesOnlyANodeThatExists(t *testing.T) {
	for name, code := range map[string]fwk.Code{"node-1": fwk.Success, "node-2": fwk.Unschedulable} {
		pl := openWith(t, "echo_result", Args{GuestConfig: name}, snapshot.Of(nodesNamed("node-1")...))
		state, p := framework.NewCycleState(), pod("web")
		preFilter(t.Context(), pl, state, p)
		result, status := pl.(fwk.PostFilterPlugin).PostFilter(t.Context(), state, p, framework.NewDefaultNodeToStatus())
		if status.Code() != code || !status.IsSuccess() && (result != nil || !strings.Contains(status.Message(), `"node-2", which does not exist`)) {
			t.Errorf("%s: %v, %v", name, result, status)
		}
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

func TestNormalizedScoresStayWithTheirNodes(t *testing.T) {
	pl := open(t, "normalizescore").(fwk.ScorePlugin)
	for range 20 { // maps are read in another order each time
		var scores fwk.NodeScoreList
		for i := range 10 {
			scores = append(scores, fwk.NodeScore{Name: fmt.Sprint("n", (i*7)%10), Score: int64((i * 7) % 10)})
		}
		status := pl.ScoreExtensions().NormalizeScore(t.Context(), framework.NewCycleState(), pod("p"), scores)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		for i, score := range scores {
			want := int64((i * 7) % 10)
			if score.Name != fmt.Sprint("n", want) || score.Score != want {
				t.Fatalf("at %d: %+v, want n%d with %d in %v", i, score, want, want, scores)
			}
		}
	}
}

func TestTheBindingCycleIsPassedOn(t *testing.T) {
	pl := open(t, "every_hook")
	ctx, state, p := t.Context(), framework.NewCycleState(), pod("p")
	got := schedule(ctx, pl, p, "a")[0]
	if !got.IsSuccess() {
		t.Fatal(got)
	}
	if status := pl.(fwk.ReservePlugin).Reserve(ctx, state, p, "a"); !status.IsSuccess() {
		t.Error(status)
	}
	if status, wait := pl.(fwk.PermitPlugin).Permit(ctx, state, p, "a"); !status.IsSuccess() || wait != 0 {
		t.Error(status, wait)
	}
	if status := pl.(fwk.PreBindPlugin).PreBind(ctx, state, p, "a"); !status.IsSuccess() {
		t.Error(status)
	}
	status := pl.(fwk.BindPlugin).Bind(ctx, state, p, "a")
	if status.Code() != fwk.Skip {
		t.Error(status)
	}
	pl.(fwk.PostBindPlugin).PostBind(ctx, state, p, "a")
	pl.(fwk.ReservePlugin).Unreserve(ctx, state, p, "a")
}
