// Package testkit is what tests of all rooms share.
package testkit

import (
	"os"
	"strings"
	"testing"
)

// T is what of a *testing.T most helpers need.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Must ends a test at an error.
func Must(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ErrorHas fails a test unless there is an error, with a text in it.
func ErrorHas(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got the error %v, want %q in it", err, want)
	}
}

// EmptyTemp makes the folder of temporary files one of the test's own, and finds nothing in it at the end.
func EmptyTemp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if len(left) > 0 || err != nil {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}
