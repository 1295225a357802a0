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
	unschedulable := func(reason, message string) *v1.Pod {
		return &v1.Pod{Status: v1.PodStatus{Conditions: []v1.PodCondition{{Type: v1.PodScheduled, Reason: reason, Message: message}}}}
	}
	bound := running("kubecon-1")
	bound.Status.Phase = v1.PodPending
	unscheduled := pending("Unschedulable", "0/3 nodes")
	tests := []struct {
		name string
		want *regexp.Regexp
		pod  *v1.Pod
		met  bool
	}{
		{"on a node of the group", on("kubecon-[12]"), running("kubecon-2"), true},
		{"on another node", on("kubecon-[12]"), running("kubecon-10"), false},
		{"bound but not running", on("kubecon-[12]"), bound, false},
		{"on no node", on("kubecon-[12]"), unschedulable("Unschedulable", "0/3 nodes"), false},
		{"pending as it should be", unscheduled, unschedulable("Unschedulable", "0/3 nodes are available"), true},
		{"pending for another reason", unscheduled, unschedulable("SchedulerError", "0/3 nodes are available"), false},
		{"pending with another message", unscheduled, unschedulable("Unschedulable", "0/30 nodes are available"), false},
		{"not tried yet", unscheduled, &v1.Pod{}, false},
		{"scheduled but should be pending", unscheduled, running("kubecon-1"), false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if is := state(tc.pod); tc.want.MatchString(is) != tc.met {
				t.Errorf("%q, want %s", is, tc.want)
			}
		})
	}
}
