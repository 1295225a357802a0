package wasmhost

import (
	"math/rand/v2"
	"sync/atomic"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var (
	answersTotal = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      "scheduler",
		Name:           "wasm_answers_total",
		Help:           "Number of answers about a pod, or about a pod and a node, of a Wasm guest that declares what it decides by: asked of the guest, remembered, or doubted, which is remembered and asked again.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"plugin", "from"})
	broken = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      "scheduler",
		Name:           "wasm_broken_promises_total",
		Help:           "Number of times that a Wasm guest answered the same question in another way, after which nothing is remembered of it.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"plugin"})
	rememberedPods = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem:      "scheduler",
		Name:           "wasm_remembered_entries",
		Help:           "Number of combinations of values of pods' fields for which answers of a Wasm guest are remembered.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"plugin"})
	rememberedBytes = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem:      "scheduler",
		Name:           "wasm_remembered_bytes",
		Help:           "Memory that remembered answers of a Wasm guest take.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"plugin"})
)

func init() { legacyregistry.MustRegister(answersTotal, broken, rememberedPods, rememberedBytes) }

// answerMetrics are the series of one plugin's answers.
type answerMetrics struct {
	asked, remembered, doubted, broken metrics.CounterMetric
	entries, bytes                     metrics.GaugeMetric
	had                                struct{ entries, bytes float64 }

	// recalled counts remembered answers, of which there are many at a time, until
	// flush adds them to the metric. Goroutines that count at the same time mostly
	// have cells of their own.
	recalled [16]cell
}

type cell struct {
	n atomic.Uint64
	_ [120]byte // what another processor writes to is not beside it
}

func answerMetricsOf(plugin string) *answerMetrics {
	return &answerMetrics{
		asked:      answersTotal.WithLabelValues(plugin, "asked"),
		remembered: answersTotal.WithLabelValues(plugin, "remembered"),
		doubted:    answersTotal.WithLabelValues(plugin, "doubted"),
		broken:     broken.WithLabelValues(plugin),
		entries:    rememberedPods.WithLabelValues(plugin),
		bytes:      rememberedBytes.WithLabelValues(plugin),
	}
}

// size tells by how much the cache differs from before: several profiles may have
// a plugin of the name. The cache must be locked.
func (m *answerMetrics) size(entries int, bytes int64) {
	m.entries.Add(float64(entries) - m.had.entries)
	m.bytes.Add(float64(bytes) - m.had.bytes)
	m.had.entries, m.had.bytes = float64(entries), float64(bytes)
}

func (m *answerMetrics) recall() { m.recalled[rand.Uint32()%uint32(len(m.recalled))].n.Add(1) }

// flush is for once a cycle.
func (m *answerMetrics) flush() {
	var n uint64
	for i := range m.recalled {
		if cell := &m.recalled[i].n; cell.Load() != 0 { // mostly it is, and to read takes less
			n += cell.Swap(0)
		}
	}
	if n != 0 {
		m.remembered.Add(float64(n))
	}
}
