package static_test

import (
	"strings"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func TestV2ReadsAnotherAnnotationIfConfigured(t *testing.T) {
	nodes := cluster()
	guest := load(t, v2File, `{"annotation": "example.com/node-regex"}`, nodes)
	if _, status := guest.PreFilter(podWith("(")); status.Code() != fwk.Skip {
		t.Errorf("the usual annotation: got %v, want Skip", status)
	}
	_, status := guest.PreFilter(annotated("example.com/node-regex", "("))
	if want := `annotation example.com/node-regex: missing closing ): "("`; status.Message() != want {
		t.Errorf("got %q, want %q", status.Message(), want)
	}
}

func TestV2ReadsAnotherExclusionIfConfigured(t *testing.T) {
	guest := load(t, v2File, `{"excludeAnnotation": "example.com/not"}`, cluster())
	if _, status := guest.PreFilter(annotated(regex.ExcludeAnnotation, "(")); status.Code() != fwk.Skip {
		t.Errorf("the usual annotation: got %v, want Skip", status)
	}
	_, status := guest.PreFilter(annotated("example.com/not", "("))
	if want := `annotation example.com/not: missing closing ): "("`; status.Message() != want {
		t.Errorf("got %q, want %q", status.Message(), want)
	}
}

func TestV2DoesNotStartWithABadConfig(t *testing.T) {
	for config, want := range map[string]string{
		`{"anotation": "a"}`:                            `guestConfig: unknown field "anotation"; the fields are "annotation" and "excludeAnnotation"`,
		`{"annotation": "a b"}`:                         `guestConfig: annotation key "a b" must have a name`,
		`{"annotation": "a", "excludeAnnotation": "a"}`: `guestConfig: annotation key "a" cannot be both`,
		`annotation: a`:                                 `guestConfig: want a JSON object`,
	} {
		_, err := start(t, read(t, v2File), config, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", config, err, want)
		}
	}
}
