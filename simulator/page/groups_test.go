package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
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

// The line of a group that reads "excluding a b" would have said the opposite.
func TestBothPatternsOfAGroupStandInTheirOrder(t *testing.T) {
	pod := func(name, exclude string) *v1.Pod {
		pod := waitingPod("default", name, "^one-", "0/2 nodes are available: 2 node(s) didn't match.")
		pod.Annotations[regex.ExcludeAnnotation] = exclude
		return pod
	}
	const both = `<code class="regex">^one-</code> excluding <code class="regex">%s</code>`
	for _, test := range []struct {
		pods []*v1.Pod
		want []string
	}{
		{[]*v1.Pod{pod("a", "2$"), pod("b", "2$")}, []string{fmt.Sprintf(both, "2$")}},
		{[]*v1.Pod{pod("a", "2$"), pod("b", "3$")}, []string{fmt.Sprintf(both, "2$"), fmt.Sprintf(both, "3$")}},
	} {
		var out strings.Builder
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if err := templates.ExecuteTemplate(&out, "overview-live", map[string]any{
			"AllPods": 2, "AllNodes": 0, "AllWaiting": 2, "Self": "/", "Filter": "", "Nodes": cut([]*nodeView{}, r, "page", 1), "Waiting": cut(groupsOf(test.pods), r, "waiting", 9),
		}); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if strings.Count(out.String(), want) != 1 {
				t.Errorf("not %q once in %s", want, &out)
			}
		}
	}
}

func TestNumbersInWhichTheReasonsOfAGroupDifferAreLeftOut(t *testing.T) {
	for _, tt := range []struct {
		name     string
		messages []string
		want     []string // pods and reason of each group
	}{
		{
			"how many nodes are short of what",
			[]string{
				"0/1000 nodes are available: 3 Insufficient cpu, 997 node(s) had untolerated taint(s).",
				"0/1000 nodes are available: 12 node(s) had untolerated taint(s), 988 Insufficient cpu.",
				"0/1000 nodes are available: 1 Insufficient cpu, 999 node(s) had untolerated taint(s). preemption: 0/1000 nodes",
			},
			[]string{"3 0/1000 nodes are available: … Insufficient cpu, … node(s) had untolerated taint(s)."},
		},
		{
			"a claim of each",
			[]string{`persistentvolumeclaim "data-web-9" not found`, `persistentvolumeclaim "data-web-10" not found`},
			[]string{`2 persistentvolumeclaim "data-web-…" not found`},
		},
		{
			"reasons that differ in words",
			[]string{"0/2 nodes are available: 2 Insufficient cpu.", "0/2 nodes are available: 2 Insufficient memory.", "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."},
			[]string{"1 0/2 nodes are available: 2 Insufficient cpu.", "1 0/2 nodes are available: 2 Insufficient memory.", "1 0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."},
		},
		{
			"the same message is left as it is",
			[]string{"0/3 nodes are available: 1 z, 2 a.", "0/3 nodes are available: 1 z, 2 a."},
			[]string{"2 0/3 nodes are available: 1 z, 2 a."},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var waiting []*v1.Pod
			for i, message := range tt.messages {
				waiting = append(waiting, waitingPod("default", fmt.Sprint("p-", i), "", message))
			}
			var got []string
			for _, g := range groupsOf(waiting) {
				got = append(got, fmt.Sprint(len(g.Pods), " ", g.Reason))
				list, err := url.Parse(g.URL())
				if err != nil {
					t.Fatal(err)
				}
				listed := keep(toolbar{Filter: list.Query().Get("filter")}, waiting, podHas)
				if !slices.Equal(listed, g.Pods) {
					t.Errorf("%s: its list has %d pods", g.Reason, len(listed))
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}
