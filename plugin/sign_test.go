package plugin

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

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
