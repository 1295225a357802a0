package regex

import (
	"regexp"
	"testing"
)

func TestReasonNamesTheAnnotationThatDecides(t *testing.T) {
	const (
		mismatch = `node(s) didn't match the pod's node name regex "^kubecon-\d+"`
		excluded = `node(s) matched the pod's node name regex-exclude "-gpu$"`
	)
	both := map[string]string{Annotation: `^kubecon-\d+`, ExcludeAnnotation: "-gpu$"}
	one := map[string]string{ExcludeAnnotation: "-gpu$"}
	for _, tc := range []struct {
		annotations  map[string]string
		name, reason string
	}{
		{both, "kubecon-1", ""},
		{both, "cncf-1", mismatch},
		{both, "kubecon-1-gpu", excluded},
		{both, "cncf-1-gpu", mismatch},
		{one, "cncf-1", ""},
		{one, "cncf-1-gpu", excluded},
		{map[string]string{ExcludeAnnotation: ""}, "cncf-1", `node(s) matched the pod's node name regex-exclude ""`},
	} {
		selector, err := Default.Selector(tc.annotations)
		if err != nil {
			t.Fatal(err)
		}
		got := selector.Reason(selector.Judge(tc.name))
		if got != tc.reason || selector.Match(tc.name) != (got == "") {
			t.Errorf("%v on %s: got %q, want %q", tc.annotations, tc.name, got, tc.reason)
		}
	}
}

func TestSelectorErrorNamesTheAnnotationAtFault(t *testing.T) {
	for _, tc := range []struct {
		annotations map[string]string
		want        string
	}{
		{map[string]string{Annotation: "a", ExcludeAnnotation: "("}, "annotation " + ExcludeAnnotation + `: missing closing ): "("`},
		{map[string]string{Annotation: "[", ExcludeAnnotation: "("}, "annotation " + Annotation + `: missing closing ]: "["`},
		{map[string]string{ExcludeAnnotation: "[ab]*a[ab]{900}$"}, "annotation " + ExcludeAnnotation + ": the pattern is too costly to match"},
	} {
		_, err := Default.Selector(tc.annotations)
		if err == nil || !regexp.MustCompile("^"+regexp.QuoteMeta(tc.want)).MatchString(err.Error()) {
			t.Errorf("%v: got %v", tc.annotations, err)
		}
	}
}
