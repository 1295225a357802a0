package page

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const typed = `apiVersion: v1
kind: Pod
metadata:
  name: a
  annotations:
    scheduler.wasmkwokwizardry.io/regex: x
spec:
  containers:
  - name: web
    resources:
      requests:
        cpu: lots
`

func TestAFieldLeadsToItsLine(t *testing.T) {
	d := document{text: typed, first: 11} // as if ten lines stood before it
	for path, want := range map[string]int{
		"":              11,
		"metadata.name": 14,
		"metadata.annotations[scheduler.wasmkwokwizardry.io/regex]": 16,
		"spec.containers[0]":                         19,
		"spec.containers[0].name":                    19,
		"spec.containers[0].image":                   19, // is missing: where it should be
		"spec.containers[0].resources.requests[cpu]": 22,
		"spec.nonsense.deep":                         17,
	} {
		if got := d.line(path); got != want {
			t.Errorf("%q is on line %d, want %d", path, got, want)
		}
	}
}

func TestAMessageLeadsToTheFirstValueItSpeaksOf(t *testing.T) {
	d := document{text: "profiles:\n- schedulerName: default-scheduler\n  plugins:\n    enabled:\n    - name: NoSuchPlugin\n", first: 1}
	for message, want := range map[string]int{
		"plugin NoSuchPlugin: profile default-scheduler enables it": 5,
		"profile default-scheduler: no":                             2,
		"something else":                                            0,
		"the list of profiles must not be empty":                    1,
	} {
		if got := d.mentioned(message); got != want {
			t.Errorf("%q is about line %d, want %d", message, got, want)
		}
	}
}

func TestTextsAreReadObjectByObject(t *testing.T) {
	docs, problems := read("# nothing\n---\n" + strings.Replace(typed, "lots", "2", 1) + "---\nkind: Pod\n---\n\tx: y\n")
	if len(docs) != 1 || docs[0].GetName() != "a" || docs[0].first != 3 {
		t.Errorf("read %v", docs)
	}
	lines := []int{}
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	if !slices.Equal(lines, []int{16, 18}) {
		t.Errorf("problems on lines %v: %v", lines, problems)
	}
	if _, problems := read("# only a comment\n"); len(problems) != 1 {
		t.Errorf("nothing at all: %v", problems)
	}
}

func TestAnErrorThatIsNotTheAPIServersIsShownAsItIs(t *testing.T) {
	if got := refusal(document{}, errors.New("connection refused")); len(got) != 1 || got[0].Message != "connection refused" {
		t.Errorf("got %v", got)
	}
}

func TestNumbersInNamesAreOrderedAsNumbers(t *testing.T) {
	names := []string{"node-10", "node-9", "a", "node-09", "node-1b", "node-1", "b-2-10", "b-2-9"}
	slices.SortFunc(names, natural)
	want := []string{"a", "b-2-9", "b-2-10", "node-1", "node-1b", "node-09", "node-9", "node-10"}
	if !slices.Equal(names, want) {
		t.Errorf("got  %v\nwant %v", names, want)
	}
}

func TestOnlyTheDifferenceIsSent(t *testing.T) {
	before := map[string]any{"metadata": map[string]any{"name": "a", "labels": map[string]any{"x": "1"}}, "status": map[string]any{"a": "1"}}
	after := map[string]any{"metadata": map[string]any{"name": "a"}, "status": map[string]any{"a": "2"}}
	for status, want := range map[bool]string{false: `{"metadata":{"labels":null}}`, true: `{"status":{"a":"2"}}`} {
		if got, err := difference(before, after, status); err != nil || string(got) != want {
			t.Errorf("status %v: %s, %v", status, got, err)
		}
	}
	if got, err := difference(before, before, false); err != nil || got != nil {
		t.Errorf("no difference: %s, %v", got, err)
	}
}

func TestAConfigurationIsCalledByWhatItPutsToUse(t *testing.T) {
	for config, want := range map[string]string{
		"profiles:\n- pluginConfig:\n  - name: X\n    args:\n      guestURL: http://a/b.wasm\n": "b.wasm",
		"extenders:\n- urlPrefix: http://extender:8000/\n":                                      "http://extender:8000/",
		"kind: x\n": "own configuration",
	} {
		if got := configTitle([]byte(config)); got != want {
			t.Errorf("%q is called %q, want %q", config, got, want)
		}
	}
	for _, c := range readyMade() {
		if got := configTitle(c.YAML()); got != c.Title {
			t.Errorf("%s is called %q, want %q", c.Door, got, c.Title)
		}
	}
}
