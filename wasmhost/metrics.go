package wasmhost

import (
	"sync"
	"sync/atomic"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// The metrics stand at /metrics of the scheduler, with scheduler_ before their
// names, once there is a Host.
var (
	callSeconds = metrics.NewHistogramVec(&metrics.HistogramOpts{
		Subsystem:      "scheduler",
		Name:           "wasm_call_duration_seconds",
		Help:           "Time that calls of a Wasm guest took, by the hook that was called and the code that it answered, of the cycles whose plugins the scheduler measures. It does not include the wait for an instance. Remembered answers are no calls.",
		Buckets:        metrics.ExponentialBuckets(250e-9, 4, 12),
		StabilityLevel: metrics.ALPHA,
	}, []string{"plugin", "hook", "code"})
	instances        = newGauge("wasm_guest_instances", "Number of instances of a Wasm guest.")
	guestMemory      = newGauge("wasm_guest_memory_bytes", "Memory of all instances of a Wasm guest.")
	traps            = newCounter("wasm_guest_traps_total", "Number of calls of a Wasm guest that trapped, each of which cost it an instance.")
	skipped          = newCounter("wasm_guest_skipped_total", "Number of attempts to schedule a pod that went on without a Wasm guest that had failed, by failurePolicy: Ignore.")
	answersTotal     = newCounter("wasm_answers_total", "Number of answers about a pod, or about a pod and a node, of a Wasm guest that declares what it decides by: asked of the guest, or remembered.", "from")
	guestInfo        = newGauge("wasm_guest_info", "The digest of the Wasm guest with which attempts to schedule a pod begin. The value is the number of plugins that have it.", "digest")
	reloads          = newCounter("wasm_guest_reloads_total", "Number of tries to replace a Wasm guest by a new one of its source, by result: success, or failure, after which the guest before goes on.", "result")
	reloadSuccessful = newGauge("wasm_guest_reload_successful", "Whether the last look for a new Wasm guest at its source succeeded. After a failure the guest before goes on.")
	rememberedPods   = newGauge("wasm_remembered_entries", "Number of combinations of values of pods' fields for which answers of a Wasm guest are remembered.")
	rememberedBytes  = newGauge("wasm_remembered_bytes", "Memory that remembered answers of a Wasm guest take.")
)

var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(callSeconds, guestInfo, reloads, reloadSuccessful, instances, guestMemory, traps, skipped, answersTotal, rememberedPods, rememberedBytes)
})

func newGauge(name, help string, labels ...string) *metrics.GaugeVec {
	return metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: "scheduler", Name: name, Help: help, StabilityLevel: metrics.ALPHA,
	}, append([]string{"plugin"}, labels...))
}

func newCounter(name, help string, labels ...string) *metrics.CounterVec {
	return metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: "scheduler", Name: name, Help: help, StabilityLevel: metrics.ALPHA,
	}, append([]string{"plugin"}, labels...))
}

// used counts the plugins that use a guest, by name and digest: a series of none goes.
var used = struct {
	sync.Mutex
	plugins map[[2]string]int
}{plugins: map[[2]string]int{}}

// countUsed counts a plugin of that name that uses a guest from now on, or does so no more.
func countUsed(plugin, digest string, begins bool) {
	used.Lock()
	defer used.Unlock()
	key := [2]string{plugin, digest}
	if begins {
		used.plugins[key]++
	} else {
		used.plugins[key]--
	}
	guestInfo.WithLabelValues(plugin, digest).Set(float64(used.plugins[key]))
	if used.plugins[key] == 0 {
		delete(used.plugins, key)
		guestInfo.DeleteLabelValues(plugin, digest)
	}
}

// failing counts plugins whose last look for a new guest failed, by name: several profiles may have one of the name.
var failing = struct {
	sync.Mutex
	plugins map[string]int
}{plugins: map[string]int{}}

func countFailing(plugin string, change int) {
	failing.Lock()
	defer failing.Unlock()
	failing.plugins[plugin] += change
	successful := 1.0
	if failing.plugins[plugin] > 0 {
		successful = 0
	}
	reloadSuccessful.WithLabelValues(plugin).Set(successful)
}

// answerMetrics are the series of one plugin's answers.
type answerMetrics struct {
	asked, remembered metrics.CounterMetric
	entries, bytes    metrics.GaugeMetric
	had               struct{ entries, bytes float64 }

	// uncounted are remembered answers that flush has yet to add to the metric: there are many at a time.
	uncounted atomic.Uint64
}

func answerMetricsOf(plugin string) *answerMetrics {
	return &answerMetrics{
		asked:      answersTotal.WithLabelValues(plugin, "asked"),
		remembered: answersTotal.WithLabelValues(plugin, "remembered"),
		entries:    rememberedPods.WithLabelValues(plugin),
		bytes:      rememberedBytes.WithLabelValues(plugin),
	}
}

// size tells by how much the answers differ from before: several profiles may have
// a plugin of the name. It is for one goroutine at a time.
func (m *answerMetrics) size(entries int, bytes int64) {
	m.entries.Add(float64(entries) - m.had.entries)
	m.bytes.Add(float64(bytes) - m.had.bytes)
	m.had.entries, m.had.bytes = float64(entries), float64(bytes)
}

// flush is for once a cycle.
func (m *answerMetrics) flush() {
	n := m.uncounted.Swap(0)
	if n != 0 {
		m.remembered.Add(float64(n))
	}
}
