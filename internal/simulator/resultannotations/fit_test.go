package resultannotations

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// saying is an attempt of whose results one, PreScore's, is so long.
func saying(length int) recorder.Attempt {
	return recorder.Attempt{Node: "n", PreScore: []recorder.PluginVerdict{
		{Plugin: "A", Verdict: recorder.Errored, Reason: strings.Repeat("x", length)},
	}}
}

func TestResultsThatDoNotFitAreOmittedAndNamed(t *testing.T) {
	const all = validation.TotalAnnotationSizeLimitB
	for _, tt := range []struct {
		name     string
		own      int // what the pod has of its own
		attempts []recorder.Attempt
		left     string
	}{
		{"all fit", 1000, []recorder.Attempt{saying(10), saying(10)}, ""},
		{"the older of two attempts", 0, []recorder.Attempt{saying(10), saying(all)}, "1 of 2 attempts in result-history"},
		{"a result and the history of it", 0, []recorder.Attempt{saying(all)}, "prescore-result, 1 of 1 attempts in result-history"},
		{"the history, since a result has the room", 0, []recorder.Attempt{saying(all / 2)}, "1 of 1 attempts in result-history"},
		{"a result, since the pod has the room", all / 2, []recorder.Attempt{saying(all/2 - 10)}, "prescore-result, 1 of 1 attempts in result-history"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"own": strings.Repeat("x", tt.own), prefix + "filter-result": "of an import"}}}
			annotations, left := fit(pod, tt.attempts)
			testkit.Equal(t, strings.Join(left, ", "), tt.left, "what is omitted")
			testkit.Equal(t, len(annotations), len(names)+1, "how many annotations there are")
			for key, value := range annotations {
				if value != nil {
					pod.Annotations[key] = value.(string)
				} else {
					delete(pod.Annotations, key)
				}
			}
			testkit.Must(t, validation.ValidateAnnotationsSize(pod.Annotations))
		})
	}
}
