package wasmhost

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
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
			hint := openRemembering(t, tt.guest, Args{}).hint(t, tt.event, web, tt.old, tt.new)
			if hint != tt.want {
				t.Errorf("got %v, want %v", hint, tt.want)
			}
		})
	}
}

func TestHintThatFailsIsNoPodScheduledWithoutTheGuest(t *testing.T) {
	r := openRemembering(t, "decides_by_trap", Args{FailurePolicy: FailurePolicyIgnore}, nodesNamed("n1")...)
	skipped.Reset()
	log := logged(t, func() {
		hint := r.hint(t, added, about("web", "x"), nil, nodesNamed("n2")[0])
		if hint != fwk.Queue {
			t.Errorf("got %v", hint)
		}
	})
	n, err := testutil.GetCounterMetricValue(skipped.WithLabelValues(t.Name()))
	if n != 0 || err != nil {
		t.Errorf("%v pods are counted, %v; logged: %s", n, err, log)
	}
}

// slow opens decides_by_slow, which calls a function for each verdict.
func slow(t *testing.T, args Args, call func(), nodes ...*v1.Node) *remembering {
	r := openRemembering(t, "decides_by_slow", args, nodes...)
	s := r.p.pool.acquire()
	defer r.p.pool.release(s)
	s.drop() // an instance has the settings of its start
	r.p.pool.settings.Log = func(int32, string, []string) { call() }
	return r
}

// The queue waits for the first pod's answer, and for no further one's.
func TestPodsThatAHintHasNoTimeForAreWoken(t *testing.T) {
	calls := 0
	r := slow(t, Args{}, func() { calls++; time.Sleep(hintTime) })
	n1, m1 := nodesNamed("n1")[0], nodesNamed("m1")[0]
	for _, tt := range []struct {
		pod  string
		node *v1.Node
		want fwk.QueueingHint
	}{
		{"first", m1, fwk.QueueSkip},
		{"second", m1, fwk.Queue},
		{"third", n1, fwk.Queue},
		{"first", m1, fwk.QueueSkip}, // what is known needs no time
	} {
		hint := r.hint(t, added, about(tt.pod, tt.pod), nil, tt.node)
		if hint != tt.want {
			t.Errorf("%s, %s: %v", tt.pod, tt.node.Name, hint)
		}
	}
	if calls != 1 {
		t.Errorf("the guest is asked %d times", calls)
	}
}

// In place of the time, the test lets the watchdog look, once in each call.
func TestCallsOfACycleAreBounded(t *testing.T) {
	var r *remembering
	calls := 0
	r = slow(t, Args{CallTimeout: NoCallTimeout}, func() { calls++; r.p.pool.watchdog.looks.Add(1) },
		nodesNamed("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9")...)
	state, p := framework.NewCycleState(), about("web", "x")
	_, status := r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
	if !status.IsSuccess() || calls != looksEach { // nodes that it asks about
		t.Errorf("PreFilter: %v, after %d calls", status, calls)
	}
	for status.IsSuccess() && calls < 100 {
		status = r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, p, node(fmt.Sprint("n-", calls)))
	}
	if calls != cycleWithin*looksEach || status.Code() != fwk.Error {
		t.Errorf("after %d calls: %v", calls, status)
	}
}
