package yamlcheck

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestDocumentsOfATextKeepTheirLines(t *testing.T) {
	text := []byte("# nothing\n---\n---\r\nb: 2\n--- # three\n\nc: '---'\n")
	all, err := Documents(text)
	if err != nil || len(all) != 2 || all[0].Line("b") != 4 || all[1].Line("c") != 7 || all[1].Begin() != 5 {
		t.Errorf("got %v, %v", all, err)
	}
	all, err = Documents([]byte("a: 1\n---\n[\n"))
	if err == nil || len(all) != 1 {
		t.Errorf("before what is not YAML: got %v, %v", all, err)
	}
}

func TestLineOfAField(t *testing.T) {
	text := Parse([]byte("spec:\n  items:\n  - name: a\n  - name: b\n    example.com/key: c\n"))
	for path, want := range map[string]int{
		"": 1, "spec": 1, "spec.items": 2, "spec.items[1]": 4, "spec.items[1].name": 4, "spec.items[1].example.com/key": 5,
		"spec.items[1][example.com/key]": 5,
		"spec.items[1].missing":          4, "spec.items[7].name": 2, "other": 1,
	} {
		got := text.Line(path)
		if got != want {
			t.Errorf("%q is on line %d, want %d", path, got, want)
		}
	}
	line := Parse(nil).Line("a.b")
	if line != 1 {
		t.Errorf("of nothing: line %d", line)
	}
}

func TestJSONIsWhatTheDecodersOfKubernetesRead(t *testing.T) {
	for _, text := range []string{
		"a: y\nb: 'y'\nc: on\nd: No\ne: ~\nf: null\ng:\n",
		"a: 012\nb: 0o14\nc: 0x1F\nd: 1_000\ne: 1.0\nf: .5\ng: 1e3\nh: 190:20:30\ni: -0\nj: 12345678901234567890\n",
		"a: 2024-01-01\nb: 2026-01-02T03:04:05Z\nc: !!str 3\nd: !!int \"3\"\ne: !thing x\n",
		"a: |\n  one\n    two\n\n  three\nb: >-\n  folded\n  text\nc: plain\n  over lines\nd: \"q\\tu\\u00e9 \\\"o\"\ne: 'it''s'\n",
		"# head\na: &l {b: c} # line\nd: *l\ne:\n  <<: *l\n  f: {<<: [*l], b: g}\n# foot\n",
		"a: [1, [2, {b: 3}], '4']\nb: []\nc: {}\n\"quoted key\": 1\n5: five\ntrue: t\nyes: u\n",
		"a: '" + strings.Repeat("long words ", 40) + "'\nb: \"é ☃ 😀 \u0085\"\nc: a#b\nd: \"# no comment\"\ne: 'a: b'\n",
		`{"metadata": {"name": "a", "labels": {"a": "1", "b": "true"}}, "x": [null, true, 1.50]}`,
	} {
		want, err := yaml.YAMLToJSON([]byte(text))
		testkit.Must(t, err)
		got, err := Parse([]byte(text)).JSON()
		if err != nil || string(got) != string(want) {
			t.Errorf("%s\ngot  %s, %v\nwant %s", text, got, err, want)
		}
	}
}
