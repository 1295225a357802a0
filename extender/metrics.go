package extender

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// metrics are those of one extender, in a registry of their own. Every metric has
// its name, labels and help here and nowhere else.
type metrics struct {
	registry *prometheus.Registry

	requests, nodesIn, nodesOut, panics *prometheus.CounterVec
	reloads                             *prometheus.CounterVec // of certificates
	durations                           *prometheus.HistogramVec
	unknown                             prometheus.Counter
}

func newMetrics(e *Extender) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), health(e.health))
	register := promauto.With(m.registry)
	byRequest := []string{"verb", "algorithm", "outcome"}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m.requests = counters("extender_requests_total", "Requests of the scheduler that were answered or refused.", byRequest...)
	m.nodesIn = counters("extender_nodes_in_total", "Candidate nodes in requests.", byRequest...)
	m.nodesOut = counters("extender_nodes_out_total", "Nodes that passed a filter, or got a score.", byRequest...)
	m.panics = counters("extender_panics_total", "Panics of algorithms. Each cost one request, or ended the work in the background.", "algorithm")
	m.reloads = counters("extender_certificate_reloads_total", "Times that changed certificates were read, by what became of it.", "result")
	m.durations = register.NewHistogramVec(prometheus.HistogramOpts{
		Name: "extender_request_duration_seconds", Help: "From the end of a request's header to the end of its answer.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 13), // 0.1 ms to 6 s
	}, byRequest)
	m.unknown = register.NewCounter(prometheus.CounterOpts{
		Name: "extender_unknown_requests_total", Help: "Requests for what is neither a verb nor a page, as a mistyped filterVerb makes them.",
	})
	gauge := func(name, help string, value func() float64) {
		register.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	gauge("extender_requests_in_flight", "Requests that are arriving or being answered.", func() float64 { return float64(e.inFlight.Load()) })
	gauge("extender_buffered_bytes", "Memory taken by requests, of limits.buffers.", func() float64 { return float64(e.bodies.Used()) })
	gauge("extender_certificate_expiry_timestamp_seconds", "When the served certificate expires, 0 without TLS.", func() float64 {
		return float64(max(0, e.certs.notAfter().Unix()))
	})
	register.NewGaugeVec(prometheus.GaugeOpts{Name: "extender_build_info", Help: "1, with the version."}, []string{"version"}).
		WithLabelValues(e.Version).Set(1)
	return m
}

// count counts a request that is over.
func (m *metrics) count(verb, algorithm, outcome string, nodesIn, nodesOut int, took time.Duration) {
	labels := []string{verb, algorithm, outcome}
	m.requests.WithLabelValues(labels...).Inc()
	m.nodesIn.WithLabelValues(labels...).Add(float64(nodesIn))
	m.nodesOut.WithLabelValues(labels...).Add(float64(nodesOut))
	m.durations.WithLabelValues(labels...).Observe(took.Seconds())
}

// health collects the health of the algorithms in use, by name.
type health func() map[string]algorithm.Health

var (
	healthy = prometheus.NewDesc("extender_algorithm_healthy",
		"1 if the algorithm works as configured, 0 if it makes do, as load does without new data.", []string{"algorithm"}, nil)
	status = prometheus.NewDesc("extender_algorithm_status",
		"What an algorithm says of itself, as the age of its data.", []string{"algorithm", "name"}, nil)
)

func (health) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- healthy
	descriptions <- status
}

func (h health) Collect(collected chan<- prometheus.Metric) {
	for algorithm, health := range h() {
		ok := 0.0
		if health.OK {
			ok = 1
		}
		collected <- prometheus.MustNewConstMetric(healthy, prometheus.GaugeValue, ok, algorithm)
		for name, value := range health.Gauges {
			collected <- prometheus.MustNewConstMetric(status, prometheus.GaugeValue, value, algorithm, name)
		}
	}
}
