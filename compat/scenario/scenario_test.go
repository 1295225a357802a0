package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMistakesAreReported(t *testing.T) {
	for text, want := range map[string]string{
		"calls: [{hook: filter, pod: b}]":           "there is no pod b",
		"calls: [{hook: fliter, pod: a}]":           "there is no hook fliter",
		"calls: [{hook: addpod, target: c, po: a}]": "po",
		"about: [": "scenario 1",
	} {
		folder := t.TempDir()
		file := filepath.Join(folder, "one.yaml")
		for name, text := range map[string]string{filepath.Join(folder, objects): "pods: [{metadata: {name: a}}]", file: text} {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Read(file)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}

func TestDifferences(t *testing.T) {
	const transcript = "== one\n   a.wasm\nfilter a: Success\n    logs \"b\"\nbind a: Success\n\n== two\n   b.wasm\ndoes not start\n"
	tests := []struct {
		name, old, new string
		want           []Difference
	}{
		{name: "none"},
		{
			name: "an answer", old: "bind a: Success", new: "bind a: Skip",
			want: []Difference{{Scenario: "one", Want: "bind a: Success", Got: "bind a: Skip"}},
		},
		{
			name: "what is below a call", old: "    logs \"b\"\n", new: "",
			want: []Difference{{Scenario: "one", Want: "filter a: Success\n    logs \"b\"", Got: "filter a: Success"}},
		},
		{
			name: "a call that is missing", old: "bind a: Success\n", new: "",
			want: []Difference{{
				Scenario: "one", Want: "filter a: Success\n    logs \"b\"\nbind a: Success", Got: "filter a: Success\n    logs \"b\"",
			}},
		},
		{
			name: "a scenario that is missing", old: "\n== two\n   b.wasm\ndoes not start\n", new: "",
			want: []Difference{{Scenario: "two", Want: "does not start"}},
		},
		{
			name: "another guest", old: "b.wasm", new: "c.wasm",
			want: []Difference{{Scenario: "two", Want: "does not start", Got: "does not start"}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Differences(transcript, strings.Replace(transcript, test.old, test.new, 1))
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
