package static_test

import (
	"strings"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func TestV2ReadsOtherAnnotationsIfConfigured(t *testing.T) {
	for field, usual := range map[string]string{"annotation": regex.Annotation, "excludeAnnotation": regex.ExcludeAnnotation} {
		guest := load(t, v2File, `{"`+field+`": "example.com/other"}`, cluster())
		if _, status := guest.PreFilter(annotated(usual, "(")); status.Code() != fwk.Skip {
			t.Errorf("%s: with the usual annotation: got %v, want Skip", field, status)
		}
		_, status := guest.PreFilter(annotated("example.com/other", "("))
		if want := `annotation example.com/other: missing closing ): "("`; status.Message() != want {
			t.Errorf("%s: got %q, want %q", field, status.Message(), want)
		}
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
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", config, err, want)
		}
	}
}
