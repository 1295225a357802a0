package page

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func waitingPod(namespace, name, pattern, message string) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: message}}
	if pattern != "" {
		pod.Annotations = map[string]string{regex.Annotation: pattern}
	}
	return pod
}

func TestPodsThatWaitForTheSameReasonAreOneGroup(t *testing.T) {
	const full, picky = "0/2 nodes are available: 2 Too many pods.", "0/2 nodes are available: 2 node(s) didn't match."
	waiting := []*v1.Pod{waitingPod("a", "first", "x", picky)}
	for i := range 300 {
		waiting = append(waiting, waitingPod("default", fmt.Sprint("web-", i), "", full+fmt.Sprintf(" preemption: %d", i)))
	}
	waiting = append(waiting, waitingPod("b", "last", "y", picky))
	var got []string
	for _, g := range groupsOf(waiting) {
		got = append(got, fmt.Sprintf("%d %s %s %q %v", len(g.Pods), g.Pods[0].Name, g.Reason, g.Namespace, g.Regex == nil))
	}
	want := []string{"2 first " + picky + ` "" true`, "300 web-0 " + full + ` "default" true`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, pod := range waiting[1:301] {
		if reason := storyOf(pod).Reason; !podHas(pod, strings.ToLower(reason)) {
			t.Fatalf("the list of a group's pods lacks %s", pod.Name)
		}
	}
}
