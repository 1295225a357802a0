package wasmhost

import (
	"errors"
	"strings"
	"testing"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"one\r\n\n\ttwo\x1b\n":         "one; two",
		strings.Repeat("a", maxLine+1): strings.Repeat("a", maxLine-len("…")) + "…",
	} {
		got := OneLine(text)
		if got != want {
			t.Errorf("%.100q: got %q, want %q", text, got, want)
		}
	}
}

func TestFoldedErrorKeepsItsCause(t *testing.T) {
	cause := errors.New("one\ntwo")
	err := error(lineError{cause})
	if !errors.Is(err, cause) || err.Error() != "one; two" {
		t.Errorf("got %v", err)
	}
}
