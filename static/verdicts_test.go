package static_test

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/regex/regextest"
)

const (
	v1File = "regex_v1.wasm"
	v2File = "regex_v2.wasm"
)

// cluster is the one of the walkthrough.
func cluster() *snapshot.Handle { return nodesNamed("node-x7k2p", "kubecon-1", "kubecon-2") }

const refusal = "annotation " + regex.Annotation + ": "

func TestV2AnswersPreFilter(t *testing.T) {
	guest := load(t, v2File, "", cluster())
	for _, tt := range []struct {
		name   string
		pod    *v1.Pod
		code   fwk.Code
		reason string
	}{
		{"a pod without annotations is skipped", podWithout(), fwk.Skip, ""},
		{"a pod with other annotations is skipped", annotated("example.com/other", "a"), fwk.Skip, ""},
		{"an alternation of 100 names is accepted", podWith(regextest.HundredNames()), fwk.Success, ""},
		{"a preference alone excludes no node", with(podWithout(), regex.PreferAnnotation, "gpu"), fwk.Skip, ""},
		{"an exclusion alone is accepted", with(podWithout(), regex.ExcludeAnnotation, "gpu"), fwk.Success, ""},
		{
			"a costly pattern keeps the pod pending", podWith(`.{0,1000}a.{0,1000}b.{0,1000}c`), fwk.UnschedulableAndUnresolvable,
			refusal + `the pattern is too costly: with its repeats written out it may hold at most 2000 characters and operators: ".{0,1000}a.{0,1000}b.{0,1000}c"`,
		},
	} {
		result, status := guest.PreFilter(tt.pod)
		testkit.Equal(t, status.Code(), tt.code, "%s: %v", tt.name, result)
		testkit.Equal(t, status.Message(), tt.reason, "%s", tt.name)
		testkit.Equal(t, result, nil, "%s", tt.name)
	}
}

// Where a node is rejected, v1 says Unschedulable, and v2 UnschedulableAndUnresolvable. PreFilter is called as the host does; v1 has
// nothing to say there.
func TestGuestsAnswerFilter(t *testing.T) {
	nodes := cluster()
	mismatch := func(pattern string) string { return `node(s) didn't match the pod's node name regex "` + pattern + `"` }
	tests := []struct {
		name   string
		pod    *v1.Pod
		node   int
		reason string // empty: it passes
	}{
		{"a node that matches", podWith("kubecon-.*"), 1, ""},
		{"a pod with as many annotations as the API server takes", with(podWith("kubecon-.*"), "z.example.com/after", strings.Repeat("z", maxAnnotations)), 1, ""},
		{"a pattern may match anywhere", podWith("con"), 2, ""},
		{"the empty pattern admits any node", podWith(""), 0, ""},
		{"case counts", podWith("KUBECON"), 1, mismatch("KUBECON")},
		{"a node that does not match", podWith("kubecon-.*"), 0, mismatch("kubecon-.*")},
		{"a node that is not excluded", with(podWith("kubecon-.*"), regex.ExcludeAnnotation, "-2$"), 1, ""},
		{"a node that is excluded", with(podWith("kubecon-.*"), regex.ExcludeAnnotation, "-2$"), 2, `node(s) matched the pod's node name regex-exclude "-2$"`},
		{"a node that does not match either", with(podWith("kubecon-.*"), regex.ExcludeAnnotation, "node"), 0, mismatch("kubecon-.*")},
		{"an invalid pattern", podWith(`kubecon-.*\`), 1, refusal + `trailing backslash at end of expression: "kubecon-.*\"`},
		{"no annotation admits any node, also after a pod with one", podWithout(), 0, ""},
	}
	for file, rejected := range map[string]fwk.Code{v1File: fwk.Unschedulable, v2File: fwk.UnschedulableAndUnresolvable} {
		guest := load(t, file, "", nodes)
		for _, tt := range tests {
			want := fwk.Success
			switch {
			case tt.name == "an invalid pattern" && file == v1File:
				want = fwk.Error
			case tt.reason != "":
				want = rejected
			}
			guest.PreFilter(tt.pod)
			status := guest.Filter(tt.pod, nodes.Nodes[tt.node])
			testkit.Equal(t, status.Code(), want, "%s: %s: %v", file, tt.name, status)
			testkit.Equal(t, status.Message(), tt.reason, "%s: %s", file, tt.name)
		}
	}
}

// with adds an annotation to a pod.
func with(pod *v1.Pod, key, pattern string) *v1.Pod {
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, pattern)
	return pod
}

// v2 alone scores. A pod that prefers nothing is skipped, also after one that does.
func TestV2ScoresWhatThePodPrefers(t *testing.T) {
	nodes := cluster()
	guest := load(t, v2File, "", nodes)
	scorer := guest.FilterPlugin.(interface {
		fwk.PreScorePlugin
		fwk.ScorePlugin
	})
	for _, pod := range []*v1.Pod{with(podWithout(), regex.PreferAnnotation, "-2$"), with(podWith("kubecon"), regex.PreferAnnotation, "-2$")} {
		guest.PreFilter(pod)
		status := scorer.PreScore(t.Context(), guest.state, pod, nodes.Nodes)
		testkit.Succeeds(t, status)
		for _, node := range nodes.Nodes {
			want := int64(0)
			if node.Node().Name == "kubecon-2" {
				want = 100
			}
			score, status := scorer.Score(t.Context(), guest.state, pod, node)
			testkit.Succeeds(t, status)
			testkit.Equal(t, score, want, "%s", node.Node().Name)
		}
		for _, without := range []*v1.Pod{podWithout(), podWith("kubecon")} {
			guest.PreFilter(without)
			status := scorer.PreScore(t.Context(), guest.state, without, nodes.Nodes)
			testkit.Equal(t, status.IsSkip(), true, "%v: %v", without.Annotations, status)
		}
	}
}

// What our host makes of the declarations: it signs pods by these fields.
func TestGuestsDeclareWhatTheyDecideBy(t *testing.T) {
	for _, tt := range []struct {
		file, config string
		keys         []string
	}{
		{v1File, "", regex.Default.Keys()},
		{v2File, "", regex.Default.Keys()},
		{v2File, `{"annotation": "a", "excludeAnnotation": "example.com/b", "preferAnnotation": "c"}`, []string{"a", "example.com/b", "c"}},
	} {
		guest := load(t, tt.file, tt.config, cluster())
		fragments, status := guest.FilterPlugin.(fwk.SignPlugin).SignPod(t.Context(), annotated(tt.keys[0], "x"))
		var want []fwk.SignFragment
		for _, key := range tt.keys {
			want = append(want, fwk.SignFragment{Key: "pod.metadata.annotations['" + key + "']"})
		}
		want[0].Value = "x"
		testkit.Succeeds(t, status)
		testkit.Equal(t, fragments, want, "%s %s", tt.file, tt.config)
	}
}

func TestV2ReadsTheConfiguredAnnotationOfEveryRole(t *testing.T) {
	for r := range regex.Roles {
		guest := load(t, v2File, `{"`+r.Field()+`": "example.com/other"}`, cluster())
		_, status := guest.PreFilter(annotated(regex.Default.Keys()[r], "("))
		testkit.Equal(t, status.IsSkip(), true, "%s: with the usual annotation: %v", r.Field(), status)
		_, status = guest.PreFilter(annotated("example.com/other", "("))
		testkit.Equal(t, status.Message(), `annotation example.com/other: missing closing ): "("`, "%s", r.Field())
	}
}

func TestV2DoesNotStartWithABadConfig(t *testing.T) {
	for config, want := range map[string]string{
		`{"anotation": "a"}`:                            `guestConfig: unknown field "anotation"; the fields are "annotation", "excludeAnnotation" and "preferAnnotation"`,
		`{"annotation": "a b"}`:                         `guestConfig: annotation key "a b" must have a name`,
		`{"annotation": "a", "excludeAnnotation": "a"}`: `guestConfig: annotation key "a" cannot be both`,
		`annotation: a`:                                 `guestConfig: want a JSON object`,
	} {
		_, err := start(t, read(t, v2File), config, nil)
		testkit.ErrorHas(t, err, want)
	}
}
