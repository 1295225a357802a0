package command

import (
	"bytes"
	"regexp"
	"testing"
	"unicode/utf8"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
)

func TestProgressIsPrintedOncePerStep(t *testing.T) {
	var out bytes.Buffer
	p := newPrinter(&out)
	for i := range 100 {
		p.show(compare.Progress{Side: "A", Step: "schedules", Done: i, Of: 100})
	}
	p.show(compare.Progress{Side: "A", Step: "reads the cluster"})
	for i := range 6 {
		p.show(compare.Progress{Side: "A", Step: "reads pods", Done: 500 * (i + 1)})
	}
	for i := range 2 {
		p.show(compare.Progress{Side: "A", Step: "reads claims", Done: i + 1})
	}
	p.end()
	want := regexp.MustCompile(`(?s)^ +[\d.]+s  A: schedules, 0 of 100\n +[\d.]+s  A: reads the cluster\n` +
		` +[\d.]+s  A: reads pods, 500\n +[\d.]+s  A: reads pods, 3000\n +[\d.]+s  A: reads claims, 1\n +[\d.]+s  A: reads claims, 2\n$`)
	if !want.MatchString(out.String()) {
		t.Errorf("it prints %q", out.String())
	}
}

func TestProgressFitsTheTerminal(t *testing.T) {
	sides := map[string]compare.Progress{
		"A": {Side: "A", Step: "schedules", Done: 300, Of: 400}, "B": {Side: "B", Step: "schedules", Done: 100, Of: 400},
	}
	const want = "  12.3s  ██████████░░░░░░░░░░  A: schedules, 300 of 400; B: schedules, 100 of 400"
	testkit.Equal(t, drawn(200, 12.3, sides), want, "with much room")
	got := drawn(40, 12.3, sides)
	if utf8.RuneCountInString(got) != 39 {
		t.Errorf("%q has %d columns", got, utf8.RuneCountInString(got))
	}
	got = drawn(80, 1, map[string]compare.Progress{"": {Step: "reads pods", Done: 7}})
	testkit.Equal(t, got, "   1.0s  ░░░░░░░░░░░░░░░░░░░░  reads pods, 7", "without an end")
}

func TestQuietShowsNoProgress(t *testing.T) {
	for _, args := range [][]string{
		{"compare", "--cluster", compared, "--a", "none", "--b", "none"},
		{"drain", "node-1", "--force", "--cluster", compared},
		{"side", "--cluster", compared, "--config", "none", "--to", t.TempDir() + "/result"},
	} {
		for quiet, want := range map[string]bool{"--quiet": false, "-q=false": true} {
			var out, errOut bytes.Buffer
			run(t.Context(), append(args, quiet), &out, &errOut)
			testkit.Equal(t, progress.MatchString(errOut.String()), want, "%s %s prints progress in %s", args, quiet, &errOut)
		}
	}
}
