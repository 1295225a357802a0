package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestTheBenchmarkRuns with few nodes. What it measures is not judged here.
func TestTheBenchmarkRuns(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"-nodes=2,5", "-rounds=2"}, &stdout, &stderr); status != 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	for _, want := range []string{"| full nodes | 2 |", "| names | 5 |", "- names, 2 to 5 nodes: growth"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%s is missing in\n%s", want, &stdout)
		}
	}
	if status := run(t.Context(), []string{"-nodes=none"}, &stdout, &stderr); status != 2 {
		t.Errorf("-nodes=none: status %d", status)
	}
}
