package testkit

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Needs finds a program. Where there is none, it skips the test, and says what installs the program.
func Needs(t testing.TB, program, install string) (path string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		NotTested(t, "no "+strings.TrimPrefix(program, "../")+": "+install)
	}
	return path
}

// NotTested skips a test that needs what this machine lacks. make test repeats the reason at its end.
func NotTested(t testing.TB, reason string) {
	t.Helper()
	_ = os.Getenv("INSTALLED") // so that go test repeats the test once something is installed (tools/test.sh)
	t.Skip("*** NOT TESTED: " + reason)
}
