package abi

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unheld are rules whose breach no host can see.
var unheld = map[string]string{
	"G7":  "what a guest makes of a buffer is its own affair",
	"G8":  "what a guest skips is its own affair",
	"G9":  "a guest that keeps something shows its own mistakes",
	"G10": "a host cannot know by what a guest decides",
	"G12": "what a guest takes for 0 is its own affair",
	"G13": "no later version has such an export yet",
	"H23": "a transcript has one guest",
}

func read(t *testing.T) []Transcript {
	t.Helper()
	all, _, err := Read(".")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// page returns what an expression finds in docs/abi.md, between two comments.
func page(t *testing.T, begin, expression string) (found [][]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), begin)
	part, _, _ = strings.Cut(part, "<!--end-->\n")
	if begin == "" {
		part = string(text)
	}
	return regexp.MustCompile(expression).FindAllStringSubmatch(part, -1)
}

func TestEveryRuleIsHeldByATranscript(t *testing.T) {
	held := map[string]bool{}
	for _, transcript := range read(t) {
		for _, rule := range transcript.Rules {
			held[rule] = true
		}
	}
	rules := page(t, "", `\*\*([GH]\d+)\*\*`)
	for _, rule := range rules {
		if held[rule[1]] == (unheld[rule[1]] != "") {
			t.Errorf("%s: held by a transcript: %v; known to be held by none: %q", rule[1], held[rule[1]], unheld[rule[1]])
		}
		delete(held, rule[1])
	}
	if len(held) > 0 || len(rules) < 30 {
		t.Errorf("docs/abi.md has %d rules, but not %v", len(rules), held)
	}
}

func TestEveryExportAndImportIsUsedByATranscript(t *testing.T) {
	var used []byte
	modules := map[string]bool{}
	for _, transcript := range read(t) {
		for _, run := range transcript.Runs {
			wasm, err := os.ReadFile(run.Module)
			if err != nil {
				t.Fatal(err)
			}
			if !modules[run.Module] && filepath.Dir(run.Module) == "." {
				used = append(used, wasm...)
			}
			modules[run.Module] = true
		}
	}
	names := slices.Concat(page(t, "<!--exports-->", "(?m)^\\| `(\\w+)\\("), page(t, "<!--imports-->", "(?m)^\\| `([\\w.]+)\\("))
	for _, name := range names {
		if !bytes.Contains(used, []byte(string(rune(len(name[1])))+name[1])) { // each after its length
			t.Errorf("no transcript uses %s", name[1])
		}
	}
	files, _ := filepath.Glob("*.wasm")
	for _, file := range files {
		if !modules[file] {
			t.Errorf("no transcript uses %s", file)
		}
	}
	if len(names) < 39 {
		t.Errorf("docs/abi.md has %d exports and imports", len(names))
	}
}

func TestTranscriptSaysWhyUpstreamsHostDiffers(t *testing.T) {
	for _, transcript := range read(t) {
		differs := slices.ContainsFunc(transcript.Runs, func(run Run) bool {
			return run.Upstream != nil || slices.ContainsFunc(run.Calls, func(c Call) bool { return c.Upstream != nil })
		})
		if differs != (transcript.Why != "") || transcript.About == "" {
			t.Errorf("%s: about %q; differs: %v; why %q", transcript.Name, transcript.About, differs, transcript.Why)
		}
	}
}

func TestMistakesAreReported(t *testing.T) {
	call := func(call string) string { return `{"runs": [{"module": "a.wasm", "calls": [` + call + `]}]}` }
	for text, want := range map[string]string{
		call(`{"hook": "filter", "pod": "plain", "node": "one"}`):              "",
		call(`{"hook": "enqueue"}`):                                            "",
		call(`{"hook": "filter", "po": "plain"}`):                              `unknown field "po"`,
		call(`{"hook": "filters", "pod": "plain"}`):                            `run 1, call 1: unknown hook "filters"`,
		call(`{"hook": "filter"}`):                                             `no pod ""`,
		call(`{"hook": "filter", "pod": "plian"}`):                             `no pod "plian"`,
		call(`{"hook": "addpod", "pod": "plain", "target": "othre"}`):          `no pod "othre"`,
		call(`{"hook": "filter", "pod": "plain", "victims": ["othre"]}`):       `no pod "othre"`,
		call(`{"hook": "filter", "pod": "plain", "node": "two"}`):              `no node "two"`,
		call(`{"hook": "prescore", "pod": "plain", "nodes": ["two"]}`):         `no node "two"`,
		call(`{"hook": "enqueue", "answer": {"reads": "a", "reason": "b"}}`):   "reads beside reason",
		call(`{"hook": "enqueue", "upstream": {"reads": "a", "reason": "b"}}`): "reads beside reason",
		`{"runs": [{"module": "a.wasm", "waiting": ["othre"]}]}`:               `run 1, waiting: objects.json has no pod "othre"`,
		`{"runs": [{"module": "b.wasm"}]}`:                                     "run 1: open ",
		`{"runs": [{}]}`:                                                       "run 1: ",
		`{"runs": []}`:                                                         "one.json: no runs",
		call("") + "}":                                                         "one.json: text after the JSON value",
		`{"rules": [`:                                                          "one.json: unexpected EOF",
		"":                                                                     "no transcripts in ",
	} {
		folder := t.TempDir()
		files := map[string]string{"one.json": text, "objects.json": `{"pods": {"plain": {}}, "nodes": {"one": {}}}`, "a.wasm": ""}
		if text == "" {
			delete(files, "one.json")
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := Read(folder)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}

func TestHostThatDiffersIsReported(t *testing.T) {
	answer := func(reason string) Answer { return Answer{Code: "Unschedulable", Reason: reason} }
	text := answer("6f6e65")
	call := Call{Hook: "filter", Answer: Answer{Code: "Unschedulable", Reads: "o…e"}, Upstream: &Answer{Code: "Error", Reason: "…two…"}}
	transcript := Transcript{Runs: []Run{{Calls: []Call{call}}}}
	for _, tt := range []struct {
		upstream bool
		is       Answer
		same     bool
	}{
		{false, text, true},
		{false, answer("one"), false},
		{false, answer("6f6e"), false},
		{false, Answer{Code: "Error", Reason: "a two"}, false},
		{true, Answer{Code: "Error", Reason: "a two"}, true},
		{true, Answer{Code: "Error", Reason: "a two", Effects: []string{"log"}}, false},
		{true, text, false}, // the difference that is listed is not there
	} {
		host := Host{Upstream: tt.upstream, Start: func(Run) (func(Call) Answer, error) { return func(Call) Answer { return tt.is }, nil }}
		differences := host.Run(transcript, Objects{})
		if (len(differences) == 0) != tt.same {
			t.Errorf("upstream %v, %v: %q", tt.upstream, tt.is, differences)
		}
	}
}

func TestTextIsLikeAPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		is            bool
	}{
		{"a…z", "az", true},
		{"a…z", "abz", true},
		{"a…z", "abzy", false},
		{"…bind…7…", "wasm: bind returned 7", true},
		{"…bind…7…", "bind 7", true},
		{"…bind…7…", "bind7", false},
		{"…bind…7…", "wasm: prebind returned 7", false},
		{"…filter…4…", "filter 14", false},
		{"…exit…", "exit_code(1)", true},
		{"wasm: …bind…", "wasm: bind", true},
	} {
		if matches(tt.pattern, tt.text) != tt.is {
			t.Errorf("%q is like %q: want %v", tt.text, tt.pattern, tt.is)
		}
	}
}
