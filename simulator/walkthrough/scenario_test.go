package walkthrough

import (
	"regexp"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// A walkthrough that finds everything right proves something only if it can
// find something wrong.
func TestAnExpectationIsUnmetByAnyOtherOutcome(t *testing.T) {
	running := func(node string) *v1.Pod {
		return &v1.Pod{Spec: v1.PodSpec{NodeName: node}, Status: v1.PodStatus{Phase: v1.PodRunning}}
	}
	waiting := func(reason, message string) *v1.Pod {
		return &v1.Pod{Status: v1.PodStatus{Conditions: []v1.PodCondition{{Type: v1.PodScheduled, Reason: reason, Message: message}}}}
	}
	bound := running("kubecon-1")
	bound.Status.Phase = v1.PodPending
	waits := waits("Unschedulable", "0/3 nodes")
	tests := []struct {
		name string
		want *regexp.Regexp
		pod  *v1.Pod
		met  bool
	}{
		{"on a node of the group", on("kubecon-[12]"), running("kubecon-2"), true},
		{"on another node", on("kubecon-[12]"), running("kubecon-10"), false},
		{"bound but not running", on("kubecon-[12]"), bound, false},
		{"on no node", on("kubecon-[12]"), waiting("Unschedulable", "0/3 nodes"), false},
		{"waits as it should", waits, waiting("Unschedulable", "0/3 nodes are available"), true},
		{"waits for another reason", waits, waiting("SchedulerError", "0/3 nodes are available"), false},
		{"waits with another message", waits, waiting("Unschedulable", "0/30 nodes are available"), false},
		{"was not looked at yet", waits, &v1.Pod{}, false},
		{"is scheduled but should wait", waits, running("kubecon-1"), false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if is := state(tc.pod); tc.want.MatchString(is) != tc.met {
				t.Errorf("%q, want %s", is, tc.want)
			}
		})
	}
}
