package regex

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	wild "wasmkwokwizardry.io/regex-scheduling/regex/patterns"
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

func TestBothPatternsAgreeWithRegexp(t *testing.T) {
	random, cache := rand.New(rand.NewPCG(11, 12)), NewCache(Default, 1<<20)
	verdicts := map[Verdict]int{}
	for range 500 {
		include, exclude := wild.Honest(random), wild.Honest(random)
		selector, err := cache.Select(&include, &exclude)
		if err != nil {
			continue
		}
		must, mustNot := regexp.MustCompile(include), regexp.MustCompile(exclude)
		for _, name := range slices.Concat(names, wild.Names(random, 20)) {
			want := Qualifies
			switch {
			case !must.MatchString(name):
				want = Mismatch
			case mustNot.MatchString(name):
				want = Excluded
			}
			got := selector.Judge(name)
			if got != want {
				t.Errorf("%q without %q on %q: got %v", include, exclude, name, got)
			}
			verdicts[want]++
		}
	}
	if len(verdicts) != 3 {
		t.Errorf("so this proves little: %v", verdicts)
	}
}
