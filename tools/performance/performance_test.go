package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// line is what a benchmark prints of a variant in a round.
func line(variant string, round int, ns float64) string {
	return fmt.Sprintf("BenchmarkCycle/case=prefix/nodes=1000/plugin=%s/round=%d-2  \t 100\t %f cpu-ns/op\t 7 B/op\n", variant, round, ns)
}

func TestRatiosAreTakenRoundByRound(t *testing.T) {
	// The machine is ten times as slow in round 1; round 3 lacks a variant.
	in := "cpu: Some CPU\nPASS\n" + line("v2", 0, 20) + line("native", 0, 10) + line("v2", 1, 300) + line("native", 1, 100) +
		line("native", 2, 10) + line("v2", 2, 40) + line("v2", 3, 1000)
	r, err := read(strings.NewReader(in), "run.txt")
	if err != nil {
		t.Fatal(err)
	}
	of := func(variant string) series { return series{"Cycle", "prefix", 1000, variant, "cpu-sec/op"} }
	if got := r.summary(of("v2"), of("native")); got.Center != 3 {
		t.Errorf("got %+v, want the median 3", got)
	}
	if got := r.summary(of("v2"), series{}).Center; math.Abs(got-170e-9) > 1e-12 {
		t.Errorf("the median is %v s", got)
	}
	if r.cpu != "Some CPU" || strings.Join(r.variants, " ") != "v2 native" {
		t.Errorf("%q, %q", r.cpu, r.variants)
	}
}

func TestARunBecomesAPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n"+beginMark+"old\n"+endMark+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"-doc", page, "testdata/run.txt"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &stderr)
	}
	written, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(written)
	if !strings.HasPrefix(text, "before\n"+beginMark+"\n## What does it cost me?\n") || !strings.HasSuffix(text, endMark+"after\n") || strings.Contains(text, "old\n") {
		t.Error(text)
	}
	for _, want := range []string{
		"|                                             | v2     | native |\n", "\n| a new pattern, 5000 nodes                   | 3.751m | 1.827m |\n",
		" | pods/s | pods/s ÷ none | CPU time ÷ none |\n", "\n| none, 5000 nodes   | 90.87  | 1.00          | 1.00            |\n",
		"\n| v1, a new pattern ", " | ≤ 1.3    | met        |\n", " | ≥ 1.2    | **missed** |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestMistakesAreReported(t *testing.T) {
	in := func(name, text string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for want, args := range map[string][]string{
		"usage:":                          {},
		"no such file":                    {"none.txt"},
		"no benchmarks":                   {in("run.txt", "PASS\n")},
		"is not a benchmark of a variant": {in("run.txt", "BenchmarkOther-2 1 1 ns/op\n")},
		"around what is measured":         {"-doc", in("page.md", "prose"), "testdata/run.txt"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(args, &stdout, &stderr); code == 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: exit code %d, %s; want %q", args, code, &stderr, want)
		}
	}
}

func TestAForeignGuestsVerdictsAreJudged(t *testing.T) {
	wrong := strings.ReplaceAll(line("theirs", 0, 20), "7 B/op", "3 wrong-nodes")
	r, err := read(strings.NewReader(line("v2", 0, 10)+wrong), "run.txt")
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := r.cell(pod("prefix", 1000, "theirs")); text != "20.00n wrong" {
		t.Error(text)
	}
}

func TestWhatIsNoisyIsNotShown(t *testing.T) {
	var text string
	for round := range 8 {
		text += line("v2", round, 1000+float64(round)) + line("native", round, 1000+100*float64(round))
	}
	r, err := read(strings.NewReader(text), "run.txt")
	if err != nil {
		t.Fatal(err)
	}
	of := func(variant string) string {
		text, _ := r.cell(pod("prefix", 1000, variant))
		return text
	}
	if got := of("v2"); got != "1.004µ ±0%" {
		t.Errorf("steady: got %s", got)
	}
	if got := of("native"); got != "" {
		t.Errorf("noisy: got %s", got)
	}
}

func TestAMissedTargetIsCalledMissed(t *testing.T) {
	for _, tt := range []struct {
		bound bound
		value float64
		want  string
	}{
		{bound{most: 1.3}, 1.42, "**missed**"},
		{bound{most: 1.3}, 0.92, "met"},
		{bound{least: 1.2}, 1.19, "**missed**"},
		{bound{least: 1}, 1.19, "met"},
	} {
		if got := tt.bound.result(tt.value); got != tt.want {
			t.Errorf("%v for %s: %s", tt.value, tt.bound, got)
		}
	}
}

// TestNoCellIsEmpty: a row with a figure that is missing or noisy is not in the table.
func TestNoCellIsEmpty(t *testing.T) {
	var text string
	for round := range 8 {
		text += line("v2", round, 1000) + line("v1", round, 1000) + line("native", round, 1000+100*float64(round))
	}
	r, err := read(strings.NewReader(text), "run.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines, noisy := r.cells(r.each())
	if len(lines) != 3 || len(noisy) != 1 || noisy[0] != "native, a pattern that a pod had before" {
		t.Errorf("got %q, noisy %q", lines, noisy)
	}
}
