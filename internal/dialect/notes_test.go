package dialect

import (
	"strings"
	"testing"
	"unicode/utf8"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func TestNoteOfAnEventHasAllNotesThatFit(t *testing.T) {
	long := "node[" + strings.Repeat("01,", 600) + "02]ä"
	for name, tt := range map[string]struct {
		annotations map[string]string
		want        []string
	}{
		"no annotation":  {nil, nil},
		"a good pattern": {map[string]string{regex.Annotation: "node-.*"}, nil},
		"a hostlist":     {map[string]string{regex.Annotation: "node[01-12]"}, []string{"annotation " + regex.Annotation + ": [01-12] matches one character"}},
		"both patterns": {
			map[string]string{regex.Annotation: "node[01-12]", regex.ExcludeAnnotation: "a{,2}-*"},
			[]string{regex.Annotation + ": [01-12]", "; annotation " + regex.ExcludeAnnotation + ": in RE2 {,2}", "; annotation " + regex.ExcludeAnnotation + ": * and ? repeat"},
		},
		"more than an event takes": {map[string]string{regex.Annotation: long}, []string{"01,01", " …"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := EventNote(regex.Default, tt.annotations)
			if (got == "") != (tt.want == nil) || len(got) > maxEvent || !utf8.ValidString(got) {
				t.Errorf("%d bytes: %q", len(got), got)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in %q", want, got)
				}
			}
		})
	}
}
