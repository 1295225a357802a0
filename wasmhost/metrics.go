package wasmhost

import (
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// These stand on /metrics beside the scheduler's own series, with scheduler_
// before their names.
var (
	callSeconds = metrics.NewHistogramVec(&metrics.HistogramOpts{
		Subsystem:      "scheduler",
		Name:           "wasm_call_duration_seconds",
		Help:           "Time that calls of a Wasm guest took, by the hook that was called and the code that it answered, of the cycles whose plugins the scheduler measures. It includes the wait for an instance.",
		Buckets:        metrics.ExponentialBuckets(250e-9, 4, 12),
		StabilityLevel: metrics.ALPHA,
	}, []string{"plugin", "hook", "code"})
	instances = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem:      "scheduler",
		Name:           "wasm_guest_instances",
		Help:           "Number of instances of a Wasm guest.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"plugin"})
	memory = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem:      "scheduler",
		Name:           "wasm_guest_memory_bytes",
		Help:           "Memory of all instances of a Wasm guest.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"plugin"})
	traps = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      "scheduler",
		Name:           "wasm_guest_traps_total",
		Help:           "Number of calls of a Wasm guest that trapped, each of which cost it an instance.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"plugin"})
	replacements = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      "scheduler",
		Name:           "wasm_guest_replacements_total",
		Help:           "Number of instances of a Wasm guest that were made in place of one that trapped.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"plugin"})
)

func init() { legacyregistry.MustRegister(callSeconds, instances, memory, traps, replacements) }

// pluginMetrics are the series of one plugin, which are there from the start.
type pluginMetrics struct {
	instances, memory   metrics.GaugeMetric
	traps, replacements metrics.CounterMetric
}

func metricsOf(plugin string) pluginMetrics {
	m := pluginMetrics{
		instances: instances.WithLabelValues(plugin), memory: memory.WithLabelValues(plugin),
		traps: traps.WithLabelValues(plugin), replacements: replacements.WithLabelValues(plugin),
	}
	m.traps.Add(0)
	m.replacements.Add(0)
	return m
}

// measured is a call that is measured, or the zero value for one that is not.
type measured struct {
	plugin *plugin
	began  time.Time
}

// measure begins to measure a call, if the framework measures plugins in this
// cycle.
func (p *plugin) measure(state fwk.CycleState) measured {
	if state == nil || !state.ShouldRecordPluginMetrics() {
		return measured{}
	}
	return measured{p, time.Now()}
}

func (m measured) done(hook abi.Hook, status *fwk.Status) {
	if m.plugin != nil {
		callSeconds.WithLabelValues(m.plugin.name, hook.String(), status.Code().String()).Observe(time.Since(m.began).Seconds())
	}
}
