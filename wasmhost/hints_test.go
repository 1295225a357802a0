package wasmhost

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestPodIsWokenByDeclaredFieldsOnly(t *testing.T) {
	update := func(action fwk.ActionType) fwk.ClusterEvent {
		return fwk.ClusterEvent{Resource: fwk.Node, ActionType: action}
	}
	ownUpdate := fwk.ClusterEvent{Resource: minor.OwnPod, ActionType: fwk.Update}
	web, labelled := about("web", "x"), about("web", "x")
	labelled.Labels = map[string]string{"l": "1"}
	n1, m1 := nodesNamed("n1")[0], nodesNamed("m1")[0]
	for _, tt := range []struct {
		guest, name string
		event       fwk.ClusterEvent
		old, new    any
		want        fwk.QueueingHint
	}{
		{"decides_by", "its annotation", ownUpdate, web, about("web", "y"), fwk.Queue},
		{"decides_by", "its labels", ownUpdate, web, labelled, fwk.QueueSkip},
		{"decides_by", "another pod's annotation", framework.EventAssignedPodUpdate, about("other", "x"), about("other", "y"), fwk.QueueSkip},
		{"decides_by", "a node that passes", added, nil, n1, fwk.Queue},
		{"decides_by", "a node that does not", added, nil, m1, fwk.QueueSkip},
		{"decides_by", "a volume", fwk.ClusterEvent{Resource: fwk.PersistentVolume, ActionType: fwk.Add}, nil, &v1.PersistentVolume{}, fwk.QueueSkip},
		{"decides_by", "a node is gone", update(fwk.Delete), n1, nil, fwk.QueueSkip},
		{"decides_by", "a node that passes has other taints", update(fwk.UpdateNodeTaint), n1, n1, fwk.QueueSkip},
		{"decides_by_zone", "a label that helps", update(fwk.UpdateNodeLabel), inZone("b", "east"), inZone("b", "west"), fwk.Queue},
		{"decides_by_zone", "a label as it was", update(fwk.UpdateNodeLabel), inZone("b", "west"), inZone("b", "west"), fwk.QueueSkip},
		{"decides_by_zone", "a label that does not help", update(fwk.UpdateNodeLabel), inZone("b", "west"), inZone("b", "east"), fwk.QueueSkip},
		{"decides_by_hidden", "a label that is not declared", added, nil, inZone("c", "west"), fwk.QueueSkip},
		{"decides_by_hidden", "a name, beside such a label", added, nil, inZone("southwest", "east"), fwk.Queue},
		{"decides_by_pod", "a node that PreFilter names", added, nil, n1, fwk.Queue},
		{"decides_by_pod", "one that it does not name", added, nil, m1, fwk.QueueSkip},
		{"decides_by_pod", "labels, for which the guest waits", update(fwk.UpdateNodeLabel), inZone("n1", "west"), n1, fwk.Queue},
		{"decides_by_pod", "those of another node", update(fwk.UpdateNodeLabel), inZone("m1", "west"), m1, fwk.QueueSkip},
		{"decides_by_pod", "conditions, for which it does not wait", update(fwk.UpdateNodeCondition), n1, n1, fwk.QueueSkip},
	} {
		t.Run(tt.guest+": "+tt.name, func(t *testing.T) {
			var nodes []*v1.Node
			if n, ok := tt.new.(*v1.Node); ok {
				nodes = append(nodes, n)
			}
			r := openRemembering(t, tt.guest, Args{}, nodes...)
			r.cycle(t, web)
			testkit.Equal(t, r.hint(t, tt.event, web, tt.old, tt.new), tt.want, "the hint")
		})
	}
}

// The scheduler's queue waits for each hint.
func TestHintAsksNoGuest(t *testing.T) {
	r := openRemembering(t, "decides_by", Args{}, nodesNamed("n1", "m1")...)
	r.cycle(t, about("web", "x"))
	began, entries := r.asked(t), gauge(t, rememberedPods)
	s := r.guest.pool.acquire()
	defer r.guest.pool.release(s)
	for _, tt := range []struct {
		pod, node string
		want      fwk.QueueingHint
	}{
		{"x", "m1", fwk.QueueSkip},
		{"x", "m2", fwk.Queue}, // of which nothing is known
		{"y", "m1", fwk.Queue}, // a pod that was not tried
	} {
		testkit.Equal(t, r.hint(t, added, about("web", tt.pod), nil, nodesNamed(tt.node)[0]), tt.want, "%s, %s", tt.pod, tt.node)
	}
	testkit.Equal(t, r.asked(t), began, "questions")
	testkit.Equal(t, gauge(t, rememberedPods), entries, "kinds of pods of which something is remembered")
}

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
		testkit.Equal(t, passing, "northwest", "pod %d: passing, %v", i, status)
	}
	testkit.Equal(t, r.asked(t), 3, "questions about three names of nodes")
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
		testkit.Equal(t, strings.Contains(log, "opportunistic batching is off for all pods of its profile: "+why), (why != ""), "%s: the start says %q", guest, log)
		p, want := about("web", "1"), "[{pod.metadata.annotations['a'] 1}]"
		if why != "" {
			want = "[]"
		}
		fragments, status := pl.(fwk.SignPlugin).SignPod(t.Context(), p)
		testkit.Equal(t, fmt.Sprint(fragments), want, "%s: signed with", guest)
		testkit.Equal(t, status.Message(), why, "%s", guest)
	}
}
