package side

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func TestASideStartsNone(t *testing.T) {
	t.Setenv(isSide, "1")
	if err := (Process{}).Run(t.Context(), Options{}, nil); err == nil || !strings.Contains(err.Error(), "lacks the command side") {
		t.Error(err)
	}
}

func TestProgressIsToldAtEachStepAndNotMore(t *testing.T) {
	var out bytes.Buffer
	say := NewPrinter(&out)
	for i := range 100 {
		say(Progress{Run: 1, Runs: 2, Side: "A", Step: "queues the pods", Done: i, Of: 100})
	}
	say(Progress{Run: 2, Runs: 2, Side: "A", Step: "starts a cluster"})
	if want := regexp.MustCompile(`(?s)^ +[\d.]+s  run 1 of 2, A: queues the pods, 0 of 100\n +[\d.]+s  run 2 of 2, A: starts a cluster\n$`); !want.MatchString(out.String()) {
		t.Errorf("it tells %q", out.String())
	}
}
