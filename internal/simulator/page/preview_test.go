package page

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

const key = "scheduler.wasmkwokwizardry.io/regex"

func TestAnnotatedReadsAndSetsWhateverYAMLHas(t *testing.T) {
	const head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a # mine\n"
	for _, tt := range []struct{ name, text, get, set string }{
		{"a comment", head + "  annotations:\n    " + key + ": 'kubecon-.*' # any\n", "kubecon-.*", head + "  annotations:\n    " + key + ": 'it''s' # any\n"},
		{"folded", head + "  annotations:\n    " + key + ": >-\n      kubecon-\n      .*\n    other: x\n", "kubecon- .*", head + "  annotations:\n    " + key + ": 'it''s'\n    other: x\n"},
		{"braces", "{apiVersion: v1, kind: Pod, metadata: {annotations: {" + key + ": \"n\\u002d\"}}}\n", "n-", "{apiVersion: v1, kind: Pod, metadata: {annotations: {" + key + ": 'it''s'}}}\n"},
		{"no annotations", head, "", head + "  annotations:\n    " + key + ": 'it''s'\n"},
		{"no metadata", "kind: Pod\nmetadata:\n", "", "kind: Pod\nmetadata:\n  annotations:\n    " + key + ": 'it''s'\n"},
		{
			"a CronJob", "kind: CronJob\nspec: {jobTemplate: {spec: {template: {metadata: {annotations: {" + key + ": a}}}}}}\n", "a",
			"kind: CronJob\nspec: {jobTemplate: {spec: {template: {metadata: {annotations: {" + key + ": 'it''s'}}}}}}\n",
		},
		{"another object first", "kind: Node\nmetadata:\n  annotations:\n    " + key + ": x\n---\n" + head, "", "kind: Node\nmetadata:\n  annotations:\n    " + key + ": x\n---\n" + head + "  annotations:\n    " + key + ": 'it''s'\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := readAnnotated(tt.text)
			testkit.Must(t, err)
			got := a.Get(key)
			if (got == nil) != (tt.get == "") || got != nil && *got != tt.get {
				t.Errorf("read %v, want %q", got, tt.get)
			}
			testkit.Must(t, a.Set(key, "it's"))
			testkit.Equal(t, a.String(), tt.set, "the text")
			testkit.Must(t, a.Set(key, ""))
			if a.Get(key) != nil {
				t.Errorf("it stays in\n%s", a)
			}
		})
	}
}

func TestAnnotatedNeedsAPod(t *testing.T) {
	for _, text := range []string{"", "kind: Node\n", "kind: Deployment\n", "a: [", "- kind: Pod\n"} {
		_, err := readAnnotated(text)
		if err == nil {
			t.Errorf("%q has a pod", text)
		}
	}
}
