package wasmhost

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func TestNodeThatPreFilterNamesWakesThePod(t *testing.T) {
	r := openRemembering(t, "decides_by_pod", Args{})
	relabelled := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeLabel}
	n1, m1 := nodesNamed("n1")[0], nodesNamed("m1")[0]
	for _, tt := range []struct {
		name  string
		event fwk.ClusterEvent
		old   any
		new   *v1.Node
		want  fwk.QueueingHint
	}{
		{"it comes", added, nil, n1, fwk.Queue},
		{"another one comes", added, nil, m1, fwk.QueueSkip},
		{"its labels change, for which the guest waits", relabelled, inZone("n1", "west"), n1, fwk.Queue},
		{"those of another one do", relabelled, inZone("m1", "west"), m1, fwk.QueueSkip},
		{"its taints change, for which the guest does not wait", fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeCondition}, n1, n1, fwk.QueueSkip},
	} {
		got := r.hint(t, tt.event, about("web", "x"), tt.old, tt.new)
		if got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
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
	s := r.p.pool.acquire("")
	defer r.p.pool.release(s)
	s.drop() // an instance has the settings of its start
	r.p.pool.settings.Log = func(int32, string, []string) { call() }
	return r
}

// The queue waits for the first pod's answer, and for no further one's.
func TestPodsThatAHintHasNoTimeForAreWokenLaterIfItHelps(t *testing.T) {
	r := slow(t, Args{}, func() { time.Sleep(hintTime) })
	began := time.Now()
	woken := make(chan string, 100)
	r.Activated = func(p *v1.Pod) { woken <- p.Name }
	n1, m1 := nodesNamed("n1")[0], nodesNamed("m1")[0]
	waiting := func(value string) *v1.Pod {
		p := about(value, value)
		p.UID = types.UID(value)
		return p
	}
	if hint := r.hint(t, added, waiting("first"), nil, n1); hint != fwk.Queue {
		t.Errorf("the first pod: %v", hint)
	}
	busy := r.p.hints.busyUntil.Sub(began)
	if busy < time.Second+hintTime {
		t.Errorf("a call of %v counts %v", hintTime, busy)
	}
	r.p.hints.busyUntil = time.Now().Add(time.Hour)
	const pods = 5
	for i := range pods {
		name := fmt.Sprint("later-", i)
		for _, node := range []*v1.Node{m1, n1} {
			hint := r.hint(t, added, waiting(name), nil, node)
			if hint != fwk.QueueSkip {
				t.Errorf("%s, %s: %v", name, node.Name, hint)
			}
		}
	}
	if hint := r.hint(t, added, waiting("no-node"), nil, m1); hint != fwk.QueueSkip {
		t.Errorf("no-node: %v", hint)
	}
	hint := r.hint(t, added, waiting("first"), nil, n1)
	if hint != fwk.Queue {
		t.Errorf("what is known needs no time: %v", hint)
	}
	got := map[string]bool{}
	for len(got) < pods {
		select {
		case name := <-woken:
			if got[name] || name == "no-node" {
				t.Errorf("%s is woken, after %v", name, got)
			}
			got[name] = true
		case <-time.After(time.Minute):
			t.Fatalf("after a minute these are woken: %v", got)
		}
	}
}

func TestPodThatWasNotAnsweredInTimeIsWoken(t *testing.T) {
	r := openRemembering(t, "decides_by_slow", Args{})
	woken := make(chan string, 1)
	r.Activated = func(p *v1.Pod) { woken <- p.Name }
	if !r.p.hints.askLater(question{about("web", "x"), nodesNamed("m1")[0], time.Now().Add(-patience - time.Second)}) {
		t.Fatal("there is no room")
	}
	select {
	case <-woken:
	case <-time.After(time.Minute):
		t.Fatal("it is not woken")
	}
	r.p.handle = nil
	if r.p.hints.askLater(question{about("web", "x"), nodesNamed("m1")[0], time.Now()}) {
		t.Error("nothing is to wake it")
	}
}

// In place of the time, the test lets the watchdog look.
func TestAllCallsOfACycleAreBounded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		looks  int64 // during a call
		before int   // nodes that PreFilter asks about
		fails  int   // calls until the cycle fails
	}{
		{"calls that take a quarter of the time", 1, 4, cycleWithin * looksEach},
		{"calls that take nearly all of it", 3, 2, 14},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r *remembering
			calls := 0
			r = slow(t, Args{CallTimeout: NoCallTimeout}, func() { calls++; r.p.pool.watchdog.looks.Add(tt.looks) },
				nodesNamed("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9")...)
			state, p := framework.NewCycleState(), about("web", "x")
			if _, status := r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes); !status.IsSuccess() || calls != tt.before {
				t.Errorf("PreFilter: %v, after %d calls", status, calls)
			}
			for range 100 {
				unknown := framework.NewNodeInfo()
				unknown.SetNode(nodesNamed(fmt.Sprint("n-", calls))[0])
				status := r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, p, unknown)
				if !status.IsSuccess() {
					break
				}
			}
			if calls != tt.fails {
				t.Errorf("it fails after %d calls, want %d", calls, tt.fails)
			}
		})
	}
}
