package wasmhost

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// moody is a pod with something that decides_by_less looks at and does not declare.
func moody(name, mood string) *v1.Pod {
	p := about(name, "x")
	p.Labels = map[string]string{"mood": mood}
	return p
}

// rejected has a remembered guest reject a pod for its only node.
func (r *remembering) rejected(t *testing.T, p *v1.Pod) {
	t.Helper()
	if _, _, status := r.cycle(t, p); status.Code() != fwk.UnschedulableAndUnresolvable || status.Message() != "1 another letter" {
		t.Errorf("pod %s: %v", p.Name, status)
	}
}

// counted are the traps and the contract violations so far.
func (r *remembering) counted(t *testing.T) (trapped, violations int) {
	t.Helper()
	n, err := testutil.GetCounterMetricValue(traps.WithLabelValues(t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	m, err := testutil.GetCounterMetricValue(r.p.metrics.violations)
	if err != nil {
		t.Fatal(err)
	}
	return int(n), int(m)
}

func TestAGuestThatHangsOnARecheckCostsNotEachPodItsTimeout(t *testing.T) {
	traps.Reset()
	args := Args{CallTimeout: metav1.Duration{Duration: time.Second}, FailurePolicy: FailurePolicyIgnore}
	r := openRemembering(t, "decides_by_less", args, nodesNamed("m1")...)
	skipped.Reset()
	r.rejected(t, moody("calm", ""))
	for range 3 {
		r.rejected(t, moody("hangs", "?"))
	}
	if trapped, violations := r.counted(t); trapped != 1 || violations != 0 || r.p.answers.Off() {
		t.Errorf("%d calls were interrupted, and %d contract violations counted", trapped, violations)
	}
	if n, err := testutil.GetCounterMetricValue(skipped.WithLabelValues(t.Name())); n != 0 || err != nil {
		t.Errorf("%v pods are counted as scheduled without the guest; %v", n, err)
	}
}

func TestAGuestThatTrapsOnARecheckIsFoundOut(t *testing.T) {
	traps.Reset()
	r := openRemembering(t, "decides_by_less", Args{}, nodesNamed("m1")...)
	r.rejected(t, moody("calm", ""))
	log := logged(t, func() { r.cycle(t, moody("traps", "!")) })
	for _, want := range []string{"decides by more than it declares", `pod="traps"`, `node="m1"`, "another letter", "unreachable"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q: %s", want, log)
		}
	}
	// Two rechecks, and Filter, which is asked now.
	if trapped, violations := r.counted(t); trapped != 3 || violations != 1 || !r.p.answers.Off() {
		t.Errorf("%d traps, and %d contract violations", trapped, violations)
	}
}

func TestATrapThatAFreshInstanceDoesNotRepeatIsNoViolation(t *testing.T) {
	traps.Reset()
	r := openRemembering(t, "decides_by_once", Args{Instances: 1}, nodesNamed("m1")...)
	r.rejected(t, pod("first"))
	r.rejected(t, pod("second"))
	if trapped, violations := r.counted(t); trapped != 1 || violations != 0 || r.p.answers.Off() {
		t.Errorf("%d traps, %d contract violations", trapped, violations)
	}
}

// What a guest depends on is not known any more, so all that it waits for may help.
func TestAfterAViolationAllEventsWakeAPod(t *testing.T) {
	r := openRemembering(t, "decides_by_less", Args{}, nodesNamed("m1")...)
	bigger := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeAllocatable}
	hints := func() (all []fwk.QueueingHint) {
		m1 := nodesNamed("m1")[0]
		return append(all, r.hint(t, bigger, pod("web"), m1, m1), r.hint(t, framework.EventAssignedPodDelete, pod("web"), pod("db"), nil))
	}
	for _, hint := range hints() {
		if hint != fwk.QueueSkip {
			t.Errorf("before: %v", hint)
		}
	}
	r.rejected(t, moody("calm", ""))
	r.cycle(t, moody("traps", "!"))
	for i, hint := range hints() {
		if hint != fwk.Queue {
			t.Errorf("event %d: %v", i, hint)
		}
	}
}
