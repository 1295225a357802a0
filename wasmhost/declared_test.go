package wasmhost

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// A guest that looks at more than it declares does not find it, so what is remembered of it is
// right for all pods and nodes.
func TestDeclaringGuestDecidesByTheDeclaredFieldsOnly(t *testing.T) {
	labelled := func(name string) *v1.Pod {
		p := pod(name)
		p.Labels = map[string]string{"zone": "west"}
		return p
	}
	r := openRemembering(t, "decides_by_hidden", Args{}, inZone("a", "west"), inZone("b", "east"), inZone("northwest", "east"))
	for i, p := range []*v1.Pod{pod("web"), labelled("db"), labelled("west"), pod("web")} {
		passing, _, status := r.cycle(t, p)
		if passing != "northwest" {
			t.Errorf("pod %d: passing %q, %v", i, passing, status)
		}
	}
	n := r.asked(t)
	if n != 3 {
		t.Errorf("asked %d times for three names of nodes", n)
	}
}

func TestDeclaringGuestGetsObjectsWithoutUndeclaredFields(t *testing.T) {
	n := inZone("n1-secret", "east")
	n.UID = "uid-secret"
	n.Labels["other"] = "label-secret"
	n.Annotations = map[string]string{"zone": "annotation-secret"}
	n.Spec.PodCIDR = "spec-secret"
	n.Status.NodeInfo.Architecture = "status-secret"
	p := about("pod-secret", "annotation-secret")
	p.UID = types.UID("uid-secret")
	p.Labels = map[string]string{"zone": "label-secret"}
	p.Spec.NodeName = "spec-secret"
	r := openRemembering(t, "decides_by_label", Args{}, n)
	r.cycle(t, p)
	_, _, status := r.cycle(t, p)
	got := status.Message()
	if strings.Contains(got, "secret") || !strings.Contains(got, "east") || !strings.HasPrefix(got, "1 undeclared") {
		t.Errorf("it gets %q", got)
	}
}

func TestDeclaringGuestGetsAnErrorForOtherQuestions(t *testing.T) {
	for config, want := range map[string]string{
		"l": "k8s.io/api nodeList: the guest declares what it decides by (decides_by), and so sees",
		"n": `not the node "other"`,
		"i": "k8s.io/scheduler nodeImageStates: ",
	} {
		r := openRemembering(t, "decides_by_asks", Args{GuestConfig: config}, nodesNamed("n1", "other")...)
		state := framework.NewCycleState()
		r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, pod("web"), r.Nodes)
		status := r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, pod("web"), r.Nodes[0])
		if status.Code() != fwk.Error || !strings.Contains(status.Message(), want) || !strings.Contains(status.Message(), "without decides_by it sees all") {
			t.Errorf("config %s: %v", config, status)
		}
	}
}

// Twice in a call, in three calls, in two instances.
func TestDeclaringGuestHasAClockThatStandsStillAndTheSameRandomNumbers(t *testing.T) {
	reason := func() string {
		r := openRemembering(t, "decides_by_asks", Args{}, nodesNamed("n1", "n2", "n3")...)
		r.cycle(t, pod("web"))
		_, _, status := r.cycle(t, pod("web"))
		return status.Message()
	}
	first := reason()
	text, all := strings.CutPrefix(first, "3 ")
	if !all || len(text) != 48 || text[:16] != text[24:40] {
		t.Errorf("got %q", first)
	}
	again := reason()
	if again != first {
		t.Errorf("got %q, and then %q", first, again)
	}
}

// What the hooks that compare nodes hand to a guest belongs to no field, and neither do the clones of
// what a guest counts.
func TestPodsOfAGuestThatDeclaresWhatItDecidesByAreSigned(t *testing.T) {
	for guest, why := range map[string]string{
		"decides_by":         "",
		"empty_filter":       "the guest does not declare what it decides by",
		"decides_by_rank":    "the guest compares nodes in postfilter or normalizescore",
		"decides_by_passed":  "the guest may ask in prescore which nodes passed",
		"decides_by_reserve": "the guest takes part in reserve, permit or binding",
	} {
		var pl fwk.Plugin
		log := logged(t, func() { pl = open(t, guest) })
		if strings.Contains(log, "opportunistic batching is off for all pods of its profile: "+why) != (why != "") {
			t.Errorf("%s: the start says %q", guest, log)
		}
		p, want := about("web", "1"), "[{pod.metadata.annotations['a'] 1}]"
		if why != "" {
			want = "[]"
		}
		fragments, status := pl.(fwk.SignPlugin).SignPod(t.Context(), p)
		if fmt.Sprint(fragments) != want || status.Message() != why {
			t.Errorf("%s: signed with %v, %v", guest, fragments, status)
		}
	}
}

func TestGuestThatComparesNodesIsNotRemembered(t *testing.T) {
	r := &remembering{Plugin: openWith(t, "decides_by_passed", Args{}, nil)}
	for _, passed := range [][]fwk.NodeInfo{{node("n1")}, {node("n1"), node("n2")}} {
		state := framework.NewCycleState()
		preFilter(t.Context(), r.Plugin, state, pod("web"))
		status := r.Plugin.(fwk.PreScorePlugin).PreScore(t.Context(), state, pod("web"), passed)
		if !status.IsSuccess() {
			t.Error(status)
		}
		score, _ := r.Plugin.(fwk.ScorePlugin).Score(t.Context(), state, pod("web"), node("n1"))
		if score != int64(1+5*len(passed)) { // the length of the JSON
			t.Errorf("%d nodes: score %d", len(passed), score)
		}
	}
}
