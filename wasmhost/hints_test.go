package wasmhost

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics/testutil"
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
			hint := r.hint(t, tt.event, web, tt.old, tt.new)
			if hint != tt.want {
				t.Errorf("got %v, want %v", hint, tt.want)
			}
		})
	}
}

// The scheduler's queue waits for each hint.
func TestHintAsksNoGuest(t *testing.T) {
	r := openRemembering(t, "decides_by", Args{}, nodesNamed("n1", "m1")...)
	r.cycle(t, about("web", "x"))
	began, entries := r.asked(t), remembered(t, r)
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
		hint := r.hint(t, added, about("web", tt.pod), nil, nodesNamed(tt.node)[0])
		if hint != tt.want {
			t.Errorf("%s, %s: got %v, want %v", tt.pod, tt.node, hint, tt.want)
		}
	}
	if r.asked(t) != began || remembered(t, r) != entries {
		t.Errorf("asked %d times, and then %d; %v entries, and then %v", began, r.asked(t), entries, remembered(t, r))
	}
}

// remembered is of how many kinds of pods something is remembered.
func remembered(t *testing.T, r *remembering) float64 {
	n, err := testutil.GetGaugeMetricValue(r.guest.metrics.entries)
	testkit.Must(t, err)
	return n
}
