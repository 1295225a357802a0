package regex

import (
	"regexp"
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
		if err == nil || !regexp.MustCompile("^"+regexp.QuoteMeta(tc.want)).MatchString(err.Error()) {
			t.Errorf("%v: got %v", tc.annotations, err)
		}
	}
}
