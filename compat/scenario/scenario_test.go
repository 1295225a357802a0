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
	const (
		filter, bind = "filter a: Success\n    logs \"b\"", "bind a: Success"
		two          = "\n== two\n   b.wasm\ndoes not start\n"
		transcript   = "== one\n   a.wasm\n" + filter + "\n" + bind + "\n" + two
	)
	for name, test := range map[string]struct {
		old, new string
		want     []Difference
	}{
		"none":                       {},
		"an answer":                  {bind, "bind a: Skip", []Difference{{"one", bind, "bind a: Skip"}}},
		"what is below a call":       {"    logs \"b\"\n", "", []Difference{{"one", filter, "filter a: Success"}}},
		"a call that is missing":     {bind + "\n", "", []Difference{{"one", filter + "\n" + bind, filter}}},
		"a scenario that is missing": {two, "", []Difference{{"two", "does not start", ""}}},
		"another guest":              {"b.wasm", "c.wasm", []Difference{{"two", "does not start", "does not start"}}},
	} {
		got := Differences(transcript, strings.Replace(transcript, test.old, test.new, 1))
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
