package yamlcheck

import "testing"

func TestTheDocumentsOfATextKeepTheirLines(t *testing.T) {
	text := []byte("# nothing\n---\n---\r\nb: 2\n--- # three\n\nc: '---'\n")
	all, err := Documents(text)
	if err != nil || len(all) != 2 || all[0].Line("b") != 4 || all[1].Line("c") != 7 {
		t.Errorf("got %v, %v", all, err)
	}
	if line := Second(text); line != 5 {
		t.Errorf("the second begins on line %d", line)
	}
	if all, err := Documents([]byte("a: 1\n---\n[\n")); err == nil || len(all) != 1 {
		t.Errorf("before what is no YAML: got %v, %v", all, err)
	}
}

func TestAPartOfATextKeepsItsLines(t *testing.T) {
	text := Parse([]byte("spec:\n  items:\n  - name: a\n  - name: b\n"))
	if line := text.At("spec.items[1]").Line("name"); line != 4 {
		t.Errorf("the name is on line %d", line)
	}
	if line, at := text.At("spec.missing.name").Find(""); at != nil {
		t.Errorf("what is missing is %v on line %d", at, line)
	}
}

func TestTheLineOfAField(t *testing.T) {
	text := Parse([]byte("spec:\n  items:\n  - name: a\n  - name: b\n    example.com/key: c\n"))
	for path, want := range map[string]int{
		"": 1, "spec": 1, "spec.items": 2, "spec.items[1]": 4, "spec.items[1].name": 4, "spec.items[1].example.com/key": 5,
		"spec.items[1][example.com/key]": 5,
		"spec.items[1].missing":          4, "spec.items[7].name": 2, "other": 1,
	} {
		if got := text.Line(path); got != want {
			t.Errorf("%q is on line %d, want %d", path, got, want)
		}
	}
	if line := Parse(nil).Line("a.b"); line != 1 {
		t.Errorf("of nothing: line %d", line)
	}
}
