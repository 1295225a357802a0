package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"

	"sigs.k8s.io/yaml"
)

// FuzzByElement compares what is converted by element with what is converted at once.
func FuzzByElement(f *testing.F) {
	for _, seed := range inBlockStyle {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := eachByItself(text)
		if !ok {
			return
		}
		want, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatalf("%q is no YAML: %v, but became %s", text, err, got)
		}
		if a, b := decoded(t, got), decoded(t, want); !reflect.DeepEqual(a, b) {
			t.Errorf("%q\nby element %s\nat once   %s", text, got, want)
		}
	})
}

// inBlockStyle is written as programs do.
var inBlockStyle = []string{
	"apiVersion: v1\nitems:\n- a: b\n  c:\n  - d\n- e\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
	"# comment\npods:\n  - name: a\n    text: |\n      # no comment\n\n      - no item\n  # a comment\n  -\n    name: b\nnodes: []\nempty:\nlast: {a: b}\n",
	"pods: # comment\r\n- a: 'it''s\r\n    folded'\r\n- b: >-\r\n    x\r\n",
}

func eachByItself(text string) (string, bool) {
	out, err := byElement([]byte(text), bounds{inOnePiece: 1 << 20, elements: 1 << 20})
	return string(out), err == nil
}

func decoded[T string | []byte](t *testing.T, text T) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

func TestWhatProgramsWriteIsConvertedByElement(t *testing.T) {
	for _, text := range inBlockStyle {
		if _, ok := eachByItself(text); !ok {
			t.Errorf("not converted by element: %q", text)
		}
	}
	for _, text := range []string{"{a: b}", "a: [\n{b: c}]\n", "- a\n", "a: &x 1\nb: *x\n", "a:\n- b: c\n d: e\n", "...\n"} {
		if out, ok := eachByItself(text); ok {
			t.Errorf("%q became %s", text, out)
		}
	}
}

func TestALongListKeepsItsLength(t *testing.T) {
	const long = 3 * smallYAML / 10
	text := "items:\n" + strings.Repeat("- name: a\n", long) + "kind: List\n"
	out, err := toJSON([]byte(text), bounds{inOnePiece: smallYAML * 2, elements: long * anObject})
	if err != nil {
		t.Fatal(err)
	}
	if items, _ := decoded(t, out).(map[string]any)["items"].([]any); len(items) != long {
		t.Errorf("%d items, want %d", len(items), long)
	}
}

func TestWhatIsSentIsBounded(t *testing.T) {
	for name, tt := range map[string]struct{ file, want string }{
		"bytes":       {strings.Repeat(" ", MaxSent) + "{}", "more than 64 MB"},
		"elements":    {`{"pods":[{"metadata":{"name":"a"},"spec":{"containers":[` + strings.Repeat("{},", 1<<20) + `{}]}}]}`, "more than 1048576 elements"},
		"objects":     {`{"pods":[` + strings.Repeat("{},", 1<<20) + `{}]}`, "more than 1048576 elements"},
		"anything":    {`{"schedulerConfig":{"a":[` + strings.Repeat("0,", 1<<20) + `0]}}`, "more than 1048576 elements"},
		"YAML":        {"pods:\n" + strings.Repeat("- {}\n", 1<<20), "more than 1048576 elements"},
		"flow YAML":   {"pods: [" + strings.Repeat("{},", 2<<20) + "{}]", "more than 4 MB of YAML in one piece"},
		"compression": {compressed(t, strings.Repeat(" ", 2*MaxSent)+"{}"), "more than 64 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ReadSent(strings.NewReader(tt.file))
			if large, ok := err.(TooLarge); !ok || !strings.Contains(large.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWhatIsReadFromAFileIsBounded(t *testing.T) {
	file := compressed(t, "nodes:\n- metadata: {name: a}\n"+strings.Repeat("\n", 1<<20))
	if s, _, err := ReadWithin(t.Context(), strings.NewReader(file), 2<<20); err != nil || len(s.Nodes) != 1 {
		t.Errorf("within the bound: %v", err)
	}
	_, _, err := ReadWithin(t.Context(), strings.NewReader(file), 1<<20)
	if large, ok := err.(TooLarge); !ok || large.Error() != "more than 1 MB is too much to be read: --max-size allows more" {
		t.Errorf("got %v", err)
	}
}

// stuck never has anything to read.
type stuck struct{ asked chan bool }

func (s stuck) Read([]byte) (int, error) {
	s.asked <- true
	select {}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	from, ended := stuck{make(chan bool)}, make(chan error, 1)
	go func() {
		_, _, err := ReadWithin(ctx, from, 1<<20)
		ended <- err
	}()
	<-from.asked
	cancel()
	if err := eventually.Receives(t, "the end of the reading", ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
