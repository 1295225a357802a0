// Package testkit is what tests of all rooms share.
package testkit

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
