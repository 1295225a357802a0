package wasmhost

import (
	"errors"
	"strings"
	"testing"
)

func TestOneLine(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"one line stays as it is", "unknown field \"colour\"", "unknown field \"colour\""},
		{"lines are joined", "first\r\n\n\tsecond\n", "first; second"},
		{"the stack of a trap is left out", "wasm error: unreachable\nwasm stack trace:\n\t.main()", "wasm error: unreachable"},
		{"nothing steers the terminal", "\x1b[31mred\x07\x00", "[31mred"},
		{"a long text is cut between characters", "a" + strings.Repeat("é", maxLine), "a" + strings.Repeat("é", maxLine/2-1) + "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := OneLine(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAFoldedErrorKeepsItsCause(t *testing.T) {
	cause := errors.New("one\ntwo")
	if err := error(lineError{cause}); !errors.Is(err, cause) || err.Error() != "one; two" {
		t.Errorf("got %v", err)
	}
}
