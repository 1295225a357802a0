package testkit

import "testing"

// OnOneMinor skips a test of what no minor of Kubernetes changes: make test-minors has -short.
func OnOneMinor(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("no minor of Kubernetes changes this")
	}
}
