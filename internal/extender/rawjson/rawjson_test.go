package rawjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/rawjson"
)

// texts are places where scanners go wrong; the fuzz targets start from them.
var texts = []string{
	``, ` `, `null`, `nul`, `nulL`, `true`, `false`, `trues`, `0`, `-`, `-0`, `01`, `1.`, `1.5e`, `1.5e+7`, `-1E-2`, `.5`, `+1`,
	`""`, `"`, `"a`, `"\`, `"\"`, `"\u12"`, `"\u12G4"`, `"\u12aF"`, `"\x"`, "\"a\nb\"", "\"12345678\x01\"", "\"\x7f\"",
	"\"\xff\xfe\"", `"1234567"`, `"12345678"`, `"123456789"`, `"1234567\n"`, `"äöü-äöü"`, `"\ud83d\ude00"`,
	`[]`, `[ ]`, `[1]`, `[1,]`, `[,]`, `[1 2]`, `[1`, `[`, `]`, `[}`, `[[],[[]],{}]`,
	`{}`, `{ }`, `{"a":1}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1]`, `{"a":{"b":[{"c":null}]}}`, `{,}`, `{1:2}`,
	" \t\r\n[ 1 , { \"a\" : \"b\" } ] \n", "[\v1]", `1 2`, `{} x`,
	strings.Repeat("[", 70) + strings.Repeat("]", 70),
	strings.Repeat(`{"a":[`, 65) + strings.Repeat(`]}`, 65),
	strings.Repeat(`{"a":[`, 65) + strings.Repeat(`}]`, 65),
	strings.Repeat("[", rawjson.MaxDepth) + strings.Repeat("]", rawjson.MaxDepth),
	strings.Repeat("[", rawjson.MaxDepth+1) + strings.Repeat("]", rawjson.MaxDepth+1),
}

func TestSkipAcceptsExactlyWhatEncodingJSONAccepts(t *testing.T) {
	for _, text := range texts {
		checkSkip(t, []byte(text))
	}
}

func FuzzSkip(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(checkSkip)
}

func checkSkip(t *testing.T, text []byte) {
	before := bytes.Clone(text)
	for _, c := range cursors(text) {
		err := c.Skip()
		if err == nil {
			err = c.End()
		}
		if want := json.Valid(text); want != (err == nil) {
			t.Fatalf("%.100q: json.Valid says %v, Skip %v", text, want, err)
		}
	}
	if !bytes.Equal(before, text) {
		t.Fatalf("%.100q was changed", before)
	}
}

// cursors stand at the start of text when it is there whole, and when it
// arrives in pieces that are as small as they may be, and smaller than a node.
func cursors(text []byte) []*rawjson.Cursor {
	arriving := func(least int) func(int) []byte {
		return func(n int) []byte { return text[:min(max(n, least), len(text))] }
	}
	return []*rawjson.Cursor{rawjson.New(text), rawjson.Arriving(arriving(1)), rawjson.Arriving(arriving(9))}
}

func TestATextThatArrivesByTheByteIsReadInLinearTime(t *testing.T) {
	text := []byte(`["` + strings.Repeat("x", 1<<16) + `"]`)
	waited := 0
	c := rawjson.Arriving(func(n int) []byte {
		waited++
		return text[:min(n, len(text))]
	})
	if err := c.Skip(); err != nil {
		t.Fatal(err)
	}
	if waited > 40 {
		t.Errorf("the string was begun %d times, want about 16", waited)
	}
}

func TestWalkAcceptsExactlyWhatEncodingJSONAccepts(t *testing.T) {
	for _, text := range texts {
		checkWalk(t, []byte(text))
	}
}

func FuzzWalk(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(checkWalk)
}

// checkWalk enters every container by Object and Array and decodes every
// string, and compares with what encoding/json makes of the same text.
func checkWalk(t *testing.T, text []byte) {
	for _, c := range cursors(text) {
		compareWalk(t, c, text)
	}
}

func compareWalk(t *testing.T, c *rawjson.Cursor, text []byte) {
	got, err := walk(c)
	if err == nil {
		err = c.End()
	}
	if want := json.Valid(text); want != (err == nil) {
		t.Fatalf("%.100q: json.Valid says %v, walking %v", text, want, err)
	}
	if err != nil {
		return
	}
	var want any
	if err := json.Unmarshal(text, &want); err != nil {
		return // a number that float64 cannot hold
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if !bytes.Equal(a, b) {
		t.Fatalf("%.100q: got %s, encoding/json has %s", text, a, b)
	}
}

func walk(c *rawjson.Cursor) (any, error) {
	switch c.Kind() {
	case '{':
		m := map[string]any{}
		err := c.Object(func(key []byte) error {
			k := string(key)
			v, err := walk(c)
			m[k] = v
			return err
		})
		return m, err
	case '[':
		l := []any{}
		err := c.Array(func() error {
			v, err := walk(c)
			l = append(l, v)
			return err
		})
		return l, err
	case '"':
		s, _, err := c.String()
		return string(s), err
	}
	if c.Null() {
		return nil, nil
	}
	raw, err := c.Value()
	if err != nil {
		return nil, err
	}
	var v any
	_ = json.Unmarshal(raw, &v)
	return v, nil
}

func TestErrorsNameThePlace(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":tru}`:        "byte 8: this byte cannot stand here in JSON",
		`{"a":[1,2`:        "byte 9: the text ends too early",
		"{\"a\":\"x\ny\"}": "byte 7: this byte cannot stand here in JSON",
		`{"a":1}}`:         "byte 7: there is something after the end of the value",
		`{"a":1,"b" "c"}`:  "byte 11: this byte cannot stand here in JSON",
		strings.Repeat("[", rawjson.MaxDepth+1) + "]": "byte 10000: the text nests too deeply",
	} {
		c := rawjson.New([]byte(text))
		err := c.Skip()
		if err == nil {
			err = c.End()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%.40s: got %v, want %s", text, err, want)
		}
	}
}
