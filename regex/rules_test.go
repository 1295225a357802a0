package regex

import (
	"strings"
	"testing"
)

func TestErrorNamesTheAnnotationAtFault(t *testing.T) {
	for _, tc := range []struct {
		annotations map[string]string
		want        string
	}{
		{map[string]string{Annotation: "a", ExcludeAnnotation: "("}, "annotation " + ExcludeAnnotation + `: missing closing ): "("`},
		{map[string]string{Annotation: "[", ExcludeAnnotation: "("}, "annotation " + Annotation + `: missing closing ]: "["`},
		{map[string]string{ExcludeAnnotation: "[ab]*a[ab]{900}$"}, "annotation " + ExcludeAnnotation + ": the pattern is too costly to match"},
	} {
		_, err := Default.Compile(tc.annotations)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%v: got %v", tc.annotations, err)
		}
	}
}

func TestCompileOfOneRoleReadsNoOther(t *testing.T) {
	annotations := map[string]string{Default.Annotation: "(", Default.PreferAnnotation: "gpu"}
	rules, err := NewCache(Default, 1<<20).Compile(annotations, Prefer)
	if err != nil || !rules.Prefers("gpu-1") || rules.Filters() {
		t.Errorf("%v, %v", rules, err)
	}
	if _, err := Default.Compile(annotations, Require, Prefer); err == nil {
		t.Error("an invalid pattern of a role that is asked for is taken")
	}
}
