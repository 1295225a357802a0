package whole

import (
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/bench/door"
)

func TestEveryServingDoorSchedulesEveryPod(t *testing.T) {
	doors, err := door.All("../../testdata/bench", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Nodes: 40, Pods: 44, Rounds: 1, Limit: time.Minute, Say: func(what string, _ float64) { t.Log(what) }}
	results, err := Run(t.Context(), plan, doors)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) < 5 {
		t.Errorf("%d doors", len(results))
	}
	for _, r := range results {
		if r.Left > 0 || len(r.Latency) < plan.Pods || r.Rate.Median() <= 0 {
			t.Errorf("%s: %d pods left, %d looked at, %v pods/s", r.Door, r.Left, len(r.Latency), r.Rate)
		}
		t.Logf("%-10s %.0f pods/s, p50 %.0f µs, p99 %.0f µs", r.Door, r.Rate.Median(), r.Latency.Median()/1e3, r.Latency.Quantile(0.99)/1e3)
	}
}
