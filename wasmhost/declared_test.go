package wasmhost

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
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
