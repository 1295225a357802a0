package plugin

import (
	"bytes"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	testframework "k8s.io/kubernetes/pkg/scheduler/testing/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// A framework gives no signature at all unless every plugin of the profile can sign.
func TestSignPodSignsThePatternAndNothingElse(t *testing.T) {
	metrics.Register()
	fwk, err := testframework.NewFramework(t.Context(), []testframework.RegisterPluginFunc{
		testframework.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
		testframework.RegisterPluginAsExtensions(Name, New, "PreFilter", "Filter", "PostFilter", "PreScore", "Score"),
		testframework.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
	}, v1.DefaultSchedulerName)
	testkit.Must(t, err)
	const key = regex.Annotation
	tests := []struct {
		name string
		a, b *v1.Pod
		same bool
	}{
		{"one pattern", pod(key, "a.*"), renamed(labelled(pod(key, "a.*"))), true},
		{"no pattern", pod(), renamed(pod("example.com/other", "a")), true},
		{"a pattern that is invalid", pod(key, "("), renamed(pod(key, "(")), true},
		{"a pattern in the other annotation", pod(key, "a"), pod(regex.ExcludeAnnotation, "a"), false},
		{"two patterns", pod(key, "a"), pod(key, "b"), false},
		{"a pattern and none", pod(key, "a"), pod(), false},
		{"the empty pattern and none", pod(key, ""), pod(), false},
		{"patterns that only JSON could confuse", pod(key, "null"), pod(), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := sign(t, fwk, tt.a), sign(t, fwk, tt.b)
			if bytes.Equal(a, b) != tt.same {
				t.Errorf("signatures %s and %s", a, b)
			}
		})
	}
}

func sign(t *testing.T, fwk framework.Handle, p *v1.Pod) framework.PodSignature {
	t.Helper()
	signature := minor.Sign(t.Context(), fwk, p)
	if signature == nil {
		t.Fatal("the pod has no signature")
	}
	return signature
}
