package cycle

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/bench/door"
	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

func TestEveryDoorIsMeasuredInEveryCase(t *testing.T) {
	doors, err := door.All("../../testdata/bench", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Nodes: []int{50, 60}, Rounds: 2, Batch: time.Microsecond, Limit: time.Hour, Say: func(string, float64) {}}
	results, err := Run(t.Context(), plan, doors)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []Part{Whole, PreFilter, Shared} {
		if !slices.ContainsFunc(results, func(r Result) bool { return r.Door == "v2" && r.Part == part }) && (part != Shared || runtime.GOMAXPROCS(0) > 1) {
			t.Errorf("v2's %s is not measured", part)
		}
	}
	if want := len(plan.Nodes) * len(doors) * len(work.Cases()); len(results) < want {
		t.Errorf("%d results, want at least %d", len(results), want)
	}
	for _, r := range results {
		// Processor time comes in microseconds: of batches as short as these it may be none.
		if len(r.Time) != plan.Rounds || r.Time.Median() < 0 || r.Wall.Median() <= 0 || r.Wrong != "" {
			t.Errorf("%+v", r)
		}
		if r.Door == "v2" && r.Case == "none" && r.Filtered != 0 {
			t.Errorf("v2 filters %d nodes for a pod without annotation", r.Filtered)
		}
	}
}
