package plugin

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func newPlugin(t testing.TB, args string) *Plugin {
	t.Helper()
	pl, err := New(t.Context(), &runtime.Unknown{Raw: []byte(args)}, nil)
	testkit.Must(t, err)
	return pl.(*Plugin)
}

// pod returns a pod with annotations, given as key, value, key, value.
func pod(annotations ...string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web", Annotations: map[string]string{}}}
	for i := 0; i < len(annotations); i += 2 {
		p.Annotations[annotations[i]] = annotations[i+1]
	}
	return p
}

func node(name string) framework.NodeInfo {
	return snapshot.Of(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}).Nodes[0]
}

func TestVerdicts(t *testing.T) {
	const mismatch = `node(s) didn't match the pod's node name regex "cncf-.*"`
	const unresolvable = framework.UnschedulableAndUnresolvable
	for _, tt := range []struct {
		name      string
		pod       *v1.Pod
		node      string
		prefilter framework.Code
		filter    framework.Code // if PreFilter succeeds
		reason    string         // how the reason begins
	}{
		{"a pod without annotation runs anywhere", pod(), "", framework.Skip, 0, ""},
		{"a node that matches", pod(regex.Annotation, "kubecon-.*"), "kubecon-1", 0, 0, ""},
		{"a match needs no anchors", pod(regex.Annotation, "con"), "kubecon-1", 0, 0, ""},
		{"the empty pattern matches every node", pod(regex.Annotation, ""), "kubecon-1", 0, 0, ""},
		{"a node that doesn't match", pod(regex.Annotation, "cncf-.*"), "kubecon-1", 0, unresolvable, mismatch},
		{
			"a node that is excluded", pod(regex.Annotation, "cncf-.*", regex.ExcludeAnnotation, "-gpu$"), "cncf-gpu",
			0, unresolvable, `node(s) matched the pod's node name regex-exclude "-gpu$"`,
		},
		{"all but some nodes", pod(regex.ExcludeAnnotation, "-gpu$"), "cncf-1", 0, 0, ""},
		{"an invalid regex", pod(regex.Annotation, `kubecon-.*\`), "", unresolvable, 0, "annotation " + regex.Annotation + ": trailing backslash"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pl, state := newPlugin(t, ""), schedframework.NewCycleState()
			result, status := pl.PreFilter(t.Context(), state, tt.pod, nil)
			if status.Code() != tt.prefilter || !result.AllNodes() {
				t.Fatalf("PreFilter: %v and %v, want %v", status, result, tt.prefilter)
			}
			if status.IsSuccess() {
				status = pl.Filter(t.Context(), state.Clone(), tt.pod, node(tt.node))
				if status.Code() != tt.filter {
					t.Fatalf("Filter: %v, want %v", status.Code(), tt.filter)
				}
			}
			if !strings.HasPrefix(status.Message(), tt.reason) || (tt.reason == "") != (status.Message() == "") {
				t.Errorf("reason %q, want %q", status.Message(), tt.reason)
			}
			if tt.node != "" && strings.Contains(status.Message(), tt.node) {
				t.Errorf("the reason names the node: %q", status.Message())
			}
		})
	}
}

func TestFilterInParallelGivesTheSameVerdicts(t *testing.T) {
	pl, state, p := newPlugin(t, ""), schedframework.NewCycleState(), pod(regex.Annotation, "-[0-4][0-9]$")
	_, status := pl.PreFilter(t.Context(), state, p, nil)
	testkit.Succeeds(t, status)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := 10; i < 100; i++ {
				got := pl.Filter(t.Context(), state, p, node("node-"+strconv.Itoa(i)))
				testkit.Equal(t, got.IsSuccess(), (i < 50), "node-%d: %v", i, got)
				if got != nil {
					got.SetPlugin(Name) // as the framework does
				}
			}
		})
	}
	wg.Wait()
}

func TestNodesThatThePodPrefersScore(t *testing.T) {
	pl, state, p := newPlugin(t, ""), schedframework.NewCycleState(), pod(regex.PreferAnnotation, "^gpu-")
	p.Annotations[regex.Annotation] = "(" // PreScore does not compile it: a profile may only score
	testkit.Succeeds(t, pl.PreScore(t.Context(), state, p, nil))
	for name, want := range map[string]int64{"gpu-1": 100, "my-gpu-1": 0} {
		score, status := pl.Score(t.Context(), state.Clone(), p, node(name))
		testkit.Succeeds(t, status)
		testkit.Equal(t, score, want, "%s", name)
	}
}

func TestHooksWithoutTheOnesBeforeAreErrors(t *testing.T) {
	pl, state := newPlugin(t, ""), schedframework.NewCycleState()
	status := pl.Filter(t.Context(), state, pod(), node("a"))
	_, scored := pl.Score(t.Context(), state, pod(), node("a"))
	testkit.Equal(t, status.Code(), framework.Error, "Filter: %v", status)
	testkit.Equal(t, scored.Code(), framework.Error, "Score: %v", scored)
}

func TestPluginReadsTheAnnotationOfEveryRole(t *testing.T) {
	for r := range regex.Roles {
		t.Run(r.Field(), func(t *testing.T) {
			const key = "example.com/own"
			pl := newPlugin(t, `{"`+r.Field()+`": "`+key+`"}`)
			bad, good := pod(key, "("), pod(key, "gpu")
			_, status := pl.PreFilter(t.Context(), schedframework.NewCycleState(), bad, nil)
			testkit.Equal(t, status.Code(), framework.UnschedulableAndUnresolvable, "an invalid pattern")
			testkit.Equal(t, status.Message(), "annotation "+key+`: missing closing ): "("`, "an invalid pattern")
			_, status = pl.PreFilter(t.Context(), schedframework.NewCycleState(), good, nil)
			testkit.Equal(t, status.IsSkip(), !r.Rejects(), "PreFilter skips: %v", status)
			status = pl.PreScore(t.Context(), schedframework.NewCycleState(), good, nil)
			testkit.Equal(t, status.IsSkip(), r.Rejects(), "PreScore skips: %v", status)
			changed := framework.ClusterEvent{Resource: minor.OwnPod, ActionType: framework.Update}
			testkit.Equal(t, hint(t, pl, good, changed, bad, good), framework.Queue, "the hint of a fixed pattern")
			added := framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add}
			testkit.Equal(t, hint(t, pl, bad, added, nil, node("gpu-1").Node()), framework.QueueSkip, "the hint of a node for an invalid pattern")
			was, _ := pl.SignPod(t.Context(), bad)
			is, _ := pl.SignPod(t.Context(), good)
			if was[r] == is[r] || is[r].Value != "gpu" {
				t.Errorf("signed with %v and %v", was, is)
			}
		})
	}
}

func TestSignPodSignsThePatternsAndNothingElse(t *testing.T) {
	const key = regex.Annotation
	for _, tt := range []struct {
		name string
		a, b *v1.Pod
		same bool
	}{
		{"one pattern", pod(key, "a.*"), renamed(labelled(pod(key, "a.*"))), true},
		{"no pattern", pod(), renamed(pod("example.com/other", "a")), true},
		{"a pattern that is invalid", pod(key, "("), renamed(pod(key, "(")), true},
		{"a pattern in the other annotation", pod(key, "a"), pod(regex.ExcludeAnnotation, "a"), false},
		{"two patterns", pod(key, "a"), pod(key, "b"), false},
		{"the empty pattern and none", pod(key, ""), pod(), false},
	} {
		pl := newPlugin(t, "")
		a, one := pl.SignPod(t.Context(), tt.a)
		b, other := pl.SignPod(t.Context(), tt.b)
		if slices.Equal(a, b) != tt.same || !one.IsSuccess() || !other.IsSuccess() {
			t.Errorf("%s: signed with %v and %v", tt.name, a, b)
		}
	}
}
