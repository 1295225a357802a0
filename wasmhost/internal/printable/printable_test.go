package printable

import (
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
	} {
		got := Line(tt.text, 100)
		if got != tt.want || len(got) > 100 {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
