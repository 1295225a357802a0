package wasmhost

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// traps stands on /metrics beside the scheduler's own series, as
// scheduler_wasm_guest_traps_total.
var traps = metrics.NewCounterVec(&metrics.CounterOpts{
	Subsystem:      "scheduler",
	Name:           "wasm_guest_traps_total",
	Help:           "Number of traps of a Wasm guest, each of which had it replaced.",
	StabilityLevel: metrics.ALPHA,
}, []string{"plugin"})

func init() { legacyregistry.MustRegister(traps) }
