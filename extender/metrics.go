package extender

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics has the metrics of one extender, in their own registry.
type metrics struct {
	registry *prometheus.Registry

	requests, nodesIn, nodesOut, panics *prometheus.CounterVec
	durations                           *prometheus.HistogramVec
	unknown                             prometheus.Counter
}

func newMetrics(e *Extender) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), prometheus.CollectorFunc(e.collect))
	register := promauto.With(m.registry)
	byRequest := []string{"verb", "algorithm", "outcome"}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m.requests = counters("extender_requests_total", "Requests of the scheduler that were answered or rejected.", byRequest...)
	m.nodesIn = counters("extender_nodes_in_total", "Candidate nodes in requests.", byRequest...)
	m.nodesOut = counters("extender_nodes_out_total", "Nodes that passed a filter, or got a score.", byRequest...)
	m.panics = counters("extender_panics_total", "Panics of algorithms. Each failed one request, or ended the work in the background.", "algorithm")
	m.durations = register.NewHistogramVec(prometheus.HistogramOpts{
		Name: "extender_request_duration_seconds", Help: "From the end of a request's header to the end of its answer.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 13), // 0.1 ms to 6 s
	}, byRequest)
	m.unknown = register.NewCounter(prometheus.CounterOpts{
		Name: "extender_unknown_requests_total", Help: "Requests to unknown paths, as from a scheduler with a mistyped verb.",
	})
	return m
}

// collect collects the current state, and the health of the algorithms.
func (e *Extender) collect(collected chan<- prometheus.Metric) {
	gauge := func(value float64, name, help string, labels prometheus.Labels) {
		collected <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, labels), prometheus.GaugeValue, value)
	}
	gauge(float64(e.inFlight.Load()), "extender_requests_in_flight", "Requests that are arriving or being answered.", nil)
	gauge(float64(e.memory.used.Load()), "extender_buffered_bytes", "Memory of limits.buffers that requests have taken.", nil)
	gauge(float64(max(0, e.certs.notAfter().Unix())), "extender_certificate_expiry_timestamp_seconds", "When the served certificate expires, 0 without TLS.", nil)
	gauge(1, "extender_build_info", "1, with the version.", prometheus.Labels{"version": e.Version})
	for algorithm, health := range e.health() {
		ok := 0.0
		if health.OK {
			ok = 1
		}
		gauge(ok, "extender_algorithm_healthy", "1 if the algorithm works as configured, 0 if not, such as load without new data.",
			prometheus.Labels{"algorithm": algorithm})
		for name, value := range health.Gauges {
			gauge(value, "extender_algorithm_status", "Values that an algorithm reports, such as the age of its data.",
				prometheus.Labels{"algorithm": algorithm, "name": name})
		}
	}
}
