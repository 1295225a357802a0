package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Equal fails a test unless what it got is what it wants, to the last field. The rest, as for Printf, says what is compared.
func Equal[V any](t testing.TB, got, want V, what string, args ...any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", fmt.Sprintf(what, args...), got, want)
	}
}

// EventuallyHas waits until a text has all that is wanted, and ends the test with the last text if it never does.
func EventuallyHas(t testing.TB, what string, text func() string, wants ...string) {
	t.Helper()
	Eventually(t, what, func(context.Context) error {
		last := text()
		for _, want := range wants {
			if !strings.Contains(last, want) {
				return fmt.Errorf("no %q in %s", want, last)
			}
		}
		return nil
	})
}

// Status is what of a *framework.Status tells whether a plugin succeeded.
type Status interface {
	IsSuccess() bool
	Message() string
}

// Succeeds ends a test at a status that is not Success.
func Succeeds(t testing.TB, status Status) {
	t.Helper()
	if !status.IsSuccess() {
		t.Fatalf("got %v", status)
	}
}

// ErrorIs fails a test unless an error is, or wraps, another one, or is nil where that is.
func ErrorIs(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got the error %v, want %v", err, want)
	}
}

// Message is an error's text, and none of no error.
func Message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// ReadFile returns what is in a file, or ends the test.
func ReadFile(t testing.TB, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	Must(t, err)
	return content
}

// WriteFile writes a file, or ends the test.
func WriteFile(t testing.TB, file, text string) {
	t.Helper()
	Must(t, os.WriteFile(file, []byte(text), 0o600))
}

// TempFile writes a file of a name, in a folder of its own that is there until the test ends.
func TempFile(t testing.TB, name, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), name)
	WriteFile(t, file, text)
	return file
}

// Files are the files that match a pattern. Where there are none, it ends the test.
func Files(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return files
}
