package regex

import (
	"cmp"
	"strings"
	"testing"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestParseConfig(t *testing.T) {
	tests := []struct{ name, config, annotation, exclude, prefer, err string }{
		{name: "nothing is the default", annotation: Annotation},
		{name: "white space is the default", config: " \n", annotation: Annotation},
		{name: "an empty object is the default", config: "{}", annotation: Annotation},
		{name: "another key", config: `{"annotation": "example.com/node-regex"}`, annotation: "example.com/node-regex"},
		{name: "both", config: `{"excludeAnnotation": "b", "annotation": "a"}`, annotation: "a", exclude: "b"},
		{name: "one key for both", config: `{"excludeAnnotation": "a", "annotation": "a"}`, err: `annotation key "a" cannot be both`},
		{name: "a key without prefix", config: ` {"annotation":"Pool"} `, annotation: "Pool"},
		{name: "a key of what to exclude that is what to prefer", config: `{"excludeAnnotation": "a", "preferAnnotation": "a"}`, err: `annotation key "a" cannot be both of nodes to exclude and of nodes that score higher`},
		{name: "an escaped key", config: `{"annot\u0061tion":"p\u006fol"}`, annotation: "pool"},
		{name: "an unknown field is named", config: `{"anotation": "a"}`, err: `unknown field "anotation"; the fields are "annotation", "excludeAnnotation" and "preferAnnotation"`},
		{name: "a repeated field", config: `{"annotation": "a", "annotation": "b"}`, err: "duplicate"},
		{name: "a field of another type", config: `{"annotation": 1}`, err: `field "annotation" must be a string, not number`},
		{name: "null", config: `{"annotation": null}`, err: `must be a string, not null`},
		{name: "an empty key", config: `{"annotation": ""}`, err: `annotation key "" must have a name`},
		{name: "a key with a space", config: `{"annotation": "a b"}`, err: `annotation key "a b" must have`},
		{name: "a key with an empty prefix", config: `{"annotation": "/b"}`, err: `annotation key "/b" must have a DNS subdomain`},
		{name: "no JSON", config: `annotation: a`, err: "want a JSON object such as"},
		{name: "an array", config: `[]`, err: "want a JSON object such as"},
		{name: "half an object", config: `{"annotation": "a"`, err: "unexpected EOF"},
		{name: "more than an object", config: `{} {}`, err: "after the JSON object"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			policy, err := ParseConfig([]byte(tc.config))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("got error %v, want one with %q", err, tc.err)
				}
				return
			}
			want := Policy{tc.annotation, cmp.Or(tc.exclude, ExcludeAnnotation), cmp.Or(tc.prefer, PreferAnnotation)}
			if err != nil || policy != want {
				t.Fatalf("got %+v, %v", policy, err)
			}
		})
	}
}

func FuzzCheckKeyAgreesWithKubernetes(f *testing.F) {
	for _, key := range []string{"a", "a/b", "a.b/c_d", "-a", "A.B/C", "a//b", "/", "a.-b/c", strings.Repeat("x", 64), strings.Repeat("a.", 126) + "ab/c"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		// What ValidateAnnotations does.
		problems := validation.IsQualifiedName(strings.ToLower(key))
		// Lowering makes ASCII of two characters that are none, İ and the Kelvin
		// sign. That is an accident; ours takes no key beyond ASCII.
		if strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxASCII }) {
			problems = append(problems, "beyond ASCII")
		}
		got := checkKey(key)
		if (got == "") != (len(problems) == 0) {
			t.Errorf("checkKey(%q) = %q, Kubernetes says %q", key, got, problems)
		}
	})
}
