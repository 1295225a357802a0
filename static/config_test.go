package static_test

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func TestV2ReadsTheConfiguredAnnotationOfEveryRole(t *testing.T) {
	for r := range regex.Roles {
		guest := load(t, v2File, `{"`+r.Field()+`": "example.com/other"}`, cluster())
		_, status := guest.PreFilter(annotated(regex.Default.Keys()[r], "("))
		if !status.IsSkip() {
			t.Errorf("%s: with the usual annotation: got %v, want Skip", r.Field(), status)
		}
		_, status = guest.PreFilter(annotated("example.com/other", "("))
		want := `annotation example.com/other: missing closing ): "("`
		if status.Message() != want {
			t.Errorf("%s: got %q, want %q", r.Field(), status.Message(), want)
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
		testkit.ErrorHas(t, err, want)
	}
}
