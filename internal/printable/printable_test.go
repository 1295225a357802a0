package printable

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a line stays as it is", `unknown field "colour"`, `unknown field "colour"`},
		{"lines are joined", "first\r\n\n\tsecond\n", "first; second"},
		{"nothing steers the terminal", "\x1b[31mred\x07\x00", "[31mred"},
		{"nor turns the direction of what follows", "a\u202eb\u2028c", "abc"},
		{"what is no UTF-8 is seen to be none", "a\xffb", "a\uFFFDb"},
		{"a long text is cut between characters", "a" + strings.Repeat("é", 100), "a" + strings.Repeat("é", 48) + "…"},
		{"a text that just fits is not", strings.Repeat("é", 50), strings.Repeat("é", 50)},
		{"nothing is left of nothing", "\n \x00", ""},
		{"no password is shown", `Get "http://me:p@ss@proxy:1/x": refused`, `Get "http://xxxxx@proxy:1/x": refused`},
		{"nor one that is not escaped", `parse "http://me:p/a\"s's@proxy:1": invalid port`, `parse "http://xxxxx@proxy:1": invalid port`},
		{"nor one of a registry with a digest", "oci:/me:p/s@ghcr.io/x@sha256:00", "oci:/xxxxx@ghcr.io/x@sha256:00"},
		{"a digest is none", "oci://ghcr.io/x@sha256:00, me@example.com", "oci://ghcr.io/x@sha256:00, me@example.com"},
	} {
		got := Line(tt.text, 100)
		if got != tt.want || len(got) > 100 {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestShortCutsTheMiddleOfALongValue(t *testing.T) {
	for value, want := range map[string]string{
		"":                                   "",
		strings.Repeat("é", 128):             strings.Repeat("é", 128),
		"a" + strings.Repeat("é", 127) + "b": "a" + strings.Repeat("é", 63) + "…" + strings.Repeat("é", 62) + "b",
	} {
		if got := Short(value); got != want {
			t.Errorf("%q is shown as %q, want %q", value, got, want)
		}
	}
}

func TestFprintfWritesLinesOfItsArguments(t *testing.T) {
	var out bytes.Buffer
	Fprintf(&out, "%s\t%d %v\n", "a\x1b[2J\nb", 7, errors.New("c\nd"))
	Error(&out, "program", errors.New("first\x1b\nprogram: second http://a:b@c"))
	want := "a[2J; b\t7 c; d\nprogram: first\n  program: second http://xxxxx@c\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestURLHidesSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"http://prometheus:9090/x":              "http://prometheus:9090/x",
		"https://token@example.com/x":           "https://xxxxx@example.com/x",
		"https://me:secret@example.com/x?a=b#c": "https://xxxxx@example.com/x?xxxxx#xxxxx",
		"https://me:sec/ret@example.com":        "https://…",
		"https://me:secret@example.com/\x1b":    "https://…",
	} {
		got := URL(text)
		if got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}

func TestGuestURLHidesSecrets(t *testing.T) {
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	for guestURL, want := range map[string]string{
		"https://example.com/guest.wasm":                      "https://example.com/guest.wasm",
		"https://me:secret@example.com/guest.wasm":            "https://xxxxx@example.com/guest.wasm",
		"https://example.com/guest.wasm?token=secret&a=b":     "https://example.com/guest.wasm?xxxxx",
		"https://example.com/guest.wasm#secret":               "https://example.com/guest.wasm#xxxxx",
		"https://me:secret@example.com:a/g.wasm?token=secret": "https://…",
		"file://a folder/what?.wasm":                          "file://a folder/what?.wasm",
		"oci://ghcr.io/example/regex:v2":                      "oci://ghcr.io/example/regex:v2",
		"oci://ghcr.io/example/regex@" + digest:               "oci://ghcr.io/example/regex@" + digest,
		"oci://ghcr.io/Example/regex:v2":                      "oci://ghcr.io/Example/regex:v2",
		"oci://me:secret@ghcr.io/example/regex:v2":            "oci://…",
		"oci://me:sec/ret@ghcr.io/example/regex:v2":           "oci://…",
		"HTTPS://me:secret@example.com/guest.wasm":            "HTTPS://…",
		"ftp://me:secret@example.com/guest.wasm":              "ftp://…",
		"me:secret@example.com/guest.wasm":                    "://…",
		"https://me:sec/ret@example.com/guest.wasm":           "https://…",
		"file://me@folder/guest.wasm":                         "file://xxxxx@folder/guest.wasm",
	} {
		got := GuestURL(guestURL)
		if got != want {
			t.Errorf("%s is shown as %s, want %s", guestURL, got, want)
		}
	}
}

func TestWriterKeepsLines(t *testing.T) {
	var out bytes.Buffer
	n, err := Writer(&out).Write([]byte("I1 pod=<\n\ta\x1b[2J\u009b\n>"))
	if out.String() != "I1 pod=<\n\ta[2J\n>" || n != 19 || err != nil {
		t.Errorf("wrote %q, %d, %v", out.String(), n, err)
	}
}
