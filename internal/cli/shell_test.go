package cli

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestShellReadsTheWordsThatWereQuoted(t *testing.T) {
	for _, names := range [][]string{
		{"n1", "n2;touch owned", "$(touch owned)", "`touch owned`", "a'b", "'; touch owned; '", `a\`, `"`, "*", "~", "=ls", "", "a b", "a\nb", "#", "!!", "zürich", "%1", "&", "|", "<(a)", "{a,b}"},
		{"-n", "--help", "--"},
	} {
		words := []string{"printf", `%s\0`, "--flag=a b"}
		out, err := exec.Command("sh", "-c", Shell(words, names...)).Output()
		testkit.Must(t, err)
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")[1:]
		if strings.HasPrefix(names[0], "-") {
			got = got[1:] // the two dashes, which printf prints
		}
		if !slices.Equal(got, names) {
			t.Errorf("%q is read as %q", names, got)
		}
	}
	if got := Shell([]string{"kubectl", "drain", "--force"}, "node-1.eu", "b"); got != "kubectl drain --force node-1.eu b" {
		t.Errorf("plain words are quoted: %s", got)
	}
}
