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
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// pendingPod is a pod with a last attempt, or nil. One called web-0 is of the StatefulSet web.
func pendingPod(namespace, name string, last *recorder.Attempt, patterns ...string) *podView {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{}}}
	if workload, _, ok := strings.Cut(name, "-"); ok {
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: workload, Controller: ptr.To(true)}}
	}
	for i, pattern := range patterns {
		pod.Annotations[[]string{regex.Annotation, regex.ExcludeAnnotation}[i]] = pattern
	}
	return &podView{pod, pendingState(pod, last)}
}

// rejected is an attempt with a number of rejected nodes for each reason.
func rejected(reasons map[string]int) *recorder.Attempt {
	a := &recorder.Attempt{Result: recorder.Unschedulable}
	for reason, nodes := range reasons {
		g := recorder.Group{Verdict: recorder.Rejected, Reason: reason}
		for place := range nodes {
			g.Places = append(g.Places, int32(2*place))
		}
		a.Groups = append(a.Groups, g)
		a.Total += nodes
	}
	return a
}

func TestPodsThatArePendingForTheSameCauseAreOneGroup(t *testing.T) {
	preFilter := func(reason string) *recorder.Attempt {
		return &recorder.Attempt{Result: recorder.Unschedulable, Total: 2, PreFilter: []recorder.PluginVerdict{
			{Plugin: "NodePorts", Verdict: recorder.Skipped},
			{Plugin: "VolumeBinding", Verdict: recorder.Rejected, Reason: reason},
		}, Groups: rejected(map[string]int{reason: 2}).Groups}
	}
	for _, tt := range []struct {
		name     string
		attempts []*recorder.Attempt
		want     []string // pods, reason and cause of each group
	}{
		{
			"other numbers of nodes",
			[]*recorder.Attempt{rejected(map[string]int{"Insufficient cpu": 3, "taint": 997}), rejected(map[string]int{"taint": 12, "Insufficient cpu": 988})},
			[]string{"2: Insufficient cpu; taint, for example: 0/1000 nodes are available: 997 taint; 3 Insufficient cpu."},
		},
		{
			"the pods of a workload themselves",
			[]*recorder.Attempt{preFilter(`claim "data-web-9" not found`), preFilter(`claim "data-web-10" not found`)},
			[]string{`2: VolumeBinding rejects pods of StatefulSet p, for example: claim "data-web-9" not found`},
		},
		{
			"other reasons",
			[]*recorder.Attempt{
				rejected(map[string]int{"Insufficient cpu": 2}),
				rejected(map[string]int{"Insufficient memory": 2}),
				rejected(map[string]int{"Insufficient cpu": 1, "Insufficient memory": 1}),
			},
			[]string{
				"1: 0/2 nodes are available: 2 Insufficient cpu.",
				"1: 0/2 nodes are available: 2 Insufficient memory.",
				"1: 0/2 nodes are available: 1 Insufficient cpu; 1 Insufficient memory.",
			},
		},
		{
			"a rejection after the nodes",
			[]*recorder.Attempt{{Result: recorder.Unschedulable, Node: "n", Message: "Permit: no"}},
			[]string{"1: Permit: no"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var pending []*podView
			for i, last := range tt.attempts {
				pending = append(pending, pendingPod("default", fmt.Sprint("p-", i), last))
			}
			var got []string
			for _, g := range groupsOf(pending) {
				text := g.Reason
				if g.Differ {
					text = g.Cause + ", for example: " + g.Reason
				}
				got = append(got, fmt.Sprintf("%d: %s", len(g.Pods), text))
				list, err := url.Parse(g.URL())
				testkit.Must(t, err)
				listed := keep(toolbar{Filter: list.Query().Get("filter")}, pending)
				if !slices.Equal(listed, g.Pods) {
					t.Errorf("%s: its list has %d pods", text, len(listed))
				}
			}
			testkit.Equal(t, got, tt.want, "the groups")
		})
	}
}

func TestGroupHasTheNamespaceAndTheRegexesThatAllItsPodsHave(t *testing.T) {
	last := rejected(map[string]int{"node(s) didn't match": 2})
	const both = `<code class="regex">^one-</code> excluding <code class="regex">%s</code>`
	for _, test := range []struct {
		name string
		pods []*podView
		want []string // each once
	}{
		{"the same", []*podView{pendingPod("a", "p", last, "^one-", "2$"), pendingPod("a", "q", last, "^one-", "2$")}, []string{fmt.Sprintf(both, "2$"), "in a<"}},
		{"others", []*podView{pendingPod("a", "p", last, "^one-", "2$"), pendingPod("b", "q", last, "^one-", "3$")}, []string{fmt.Sprintf(both, "2$"), fmt.Sprintf(both, "3$"), "in a<", "in b<"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			body, err := execute("overview-live", map[string]any{
				"AllPods": 2, "AllNodes": 0, "AllPending": 2, "Self": "/", "Tools": toolbar{},
				"Nodes": cut([]*nodeView{}, r, "page", 1), "Pending": cut(groupsOf(test.pods), r, "pending", 9),
			})
			testkit.Must(t, err)
			for _, want := range test.want {
				if strings.Count(string(body), want) != 1 {
					t.Errorf("not %q once in %s", want, body)
				}
			}
		})
	}
}

func TestPendingStateOfAPodNamesItsCause(t *testing.T) {
	gated := &v1.Pod{}
	gated.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Reason: v1.PodReasonSchedulingGated, Message: "gated"}}
	fails := &recorder.Attempt{Result: recorder.Failed, Message: "timeout"}
	for _, tt := range []struct {
		pod  *v1.Pod
		last *recorder.Attempt
		want podState
	}{
		{gated, nil, podState{"quiet", "Scheduling gated", "gated", "gated"}},
		{&v1.Pod{}, fails, podState{"failing", "Scheduler error", "timeout", "timeout"}},
		{&v1.Pod{}, rejected(map[string]int{"a": 1}), podState{"pending", "Unschedulable", "0/1 nodes are available: 1 a.", "a"}},
	} {
		testkit.Equal(t, pendingState(tt.pod, tt.last), tt.want, "the state")
	}
}
