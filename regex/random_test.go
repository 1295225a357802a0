package regex

import (
	"math/rand/v2"
	"regexp"
	"testing"

	wild "wasmkwokwizardry.io/regex-scheduling/regex/patterns"
)

// What bounds the time of a cycle is counted in work, so that no busy machine
// can make this test fail, or pass.
func TestNoPatternThatTheBudgetAcceptsExceedsTheWorkOfACycle(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	names := wild.LongNames(200)
	accepted, spent := 0, 0
	for range 2000 {
		pattern := wild.Wild(random)
		selector, err := Default.Compile(pattern)
		if err != nil {
			continue
		}
		accepted++
		work := workOf(t, selector, names)
		step := 4 * (len(selector.program.insts) + selector.program.words() + indexSize/64)
		if most := account + len(names)*workPerName + step; work > most {
			t.Errorf("%q: %d work, at most %d is allowed", pattern, work, most)
		}
		spent = max(spent, work)
	}
	t.Logf("%d patterns accepted, %d work at most", accepted, spent)
	if accepted < 200 || spent < account/2 {
		t.Error("so this proves little")
	}
}

// workOf runs a cycle over all names, and compares the verdicts with regexp's.
func workOf(t *testing.T, selector *Selector, names []string) (work int) {
	want := regexp.MustCompile(selector.Pattern())
	cycle := selector.Begin()
	for i, name := range names {
		before := cycle.left.Load()
		got, err := cycle.Match(name)
		work += int(max(0, before-cycle.left.Load()))
		if err == nil && i%20 == 0 && got != want.MatchString(name) {
			t.Errorf("%q matches %q: got %v", selector.Pattern(), name, got)
		}
	}
	return work
}
