// Package metrics is what the extender counts and Prometheus collects.
//
// Every metric has its name, labels and help here and nowhere else. The package
// decides nothing by what it has counted.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// Metrics are those of one extender. They are in a registry of their own.
type Metrics struct {
	registry *prometheus.Registry

	requests, nodesIn, nodesOut, panics *prometheus.CounterVec
	durations                           *prometheus.HistogramVec
	reloads                             *prometheus.CounterVec // of certificates
	unknown                             prometheus.Counter
}

// Sources are what is looked up whenever Prometheus collects. All are needed.
type Sources struct {
	Version           string
	InFlight          func() float64     // requests
	Buffered          func() float64     // bytes of requests
	CertificateExpiry func() float64     // Unix time, or 0 without TLS
	Algorithms        func() []Algorithm // in use
}

// New returns metrics that are all zero.
func New(sources Sources) *Metrics {
	byRequest := []string{"verb", "algorithm", "outcome"}
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		requests:  counters("extender_requests_total", "Requests of the scheduler that were answered or refused.", byRequest...),
		nodesIn:   counters("extender_nodes_in_total", "Candidate nodes in requests.", byRequest...),
		nodesOut:  counters("extender_nodes_out_total", "Nodes that passed a filter, or got a score.", byRequest...),
		panics:    counters("extender_panics_total", "Panics of algorithms. Each cost one request, or ended the work in the background.", "algorithm"),
		reloads:   counters("extender_certificate_reloads_total", "Times that changed certificates were read, by what became of it.", "result"),
		durations: durations(byRequest),
		unknown: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "extender_unknown_requests_total", Help: "Requests for what is neither a verb nor a page, as a mistyped filterVerb makes them.",
		}),
	}
	m.registry.MustRegister(m.requests, m.nodesIn, m.nodesOut, m.panics, m.reloads, m.durations, m.unknown,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("extender_requests_in_flight", "Requests that are arriving or being answered.", nil, sources.InFlight),
		gauge("extender_buffered_bytes", "Memory taken by requests, of limits.buffers.", nil, sources.Buffered),
		gauge("extender_certificate_expiry_timestamp_seconds", "When the served certificate expires, 0 without TLS.", nil, sources.CertificateExpiry),
		gauge("extender_build_info", "1, with the version.", prometheus.Labels{"version": sources.Version}, func() float64 { return 1 }),
		algorithms(sources.Algorithms))
	return m
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func durations(labels []string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "extender_request_duration_seconds", Help: "From the end of a request's header to the end of its answer.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 13), // 0.1 ms to 6 s
	}, labels)
}

func gauge(name, help string, labels prometheus.Labels, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, value)
}

// A Request is what is counted of one.
type Request struct {
	Verb, Algorithm, Outcome string
	NodesIn, NodesOut        int
	Took                     time.Duration
}

// Count counts a request that is over.
func (m *Metrics) Count(r Request) {
	labels := []string{r.Verb, r.Algorithm, r.Outcome}
	m.requests.WithLabelValues(labels...).Inc()
	m.nodesIn.WithLabelValues(labels...).Add(float64(r.NodesIn))
	m.nodesOut.WithLabelValues(labels...).Add(float64(r.NodesOut))
	m.durations.WithLabelValues(labels...).Observe(r.Took.Seconds())
}

// Unknown counts a request for what is not there.
func (m *Metrics) Unknown() { m.unknown.Inc() }

// Panic counts a panic of an algorithm.
func (m *Metrics) Panic(algorithm string) { m.panics.WithLabelValues(algorithm).Inc() }

// CertificateReload counts that certificates were read again. An error means that the
// old ones go on.
func (m *Metrics) CertificateReload(err error) {
	result := "success"
	if err != nil {
		result = "refused"
	}
	m.reloads.WithLabelValues(result).Inc()
}

// Handler answers Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Algorithm is one that is in use, with its health.
type Algorithm struct {
	Name   string
	Health algorithm.Health
}

// algorithms collects the health of those that are in use at the time.
type algorithms func() []Algorithm

var (
	healthy = prometheus.NewDesc("extender_algorithm_healthy",
		"1 if the algorithm works as configured, 0 if it makes do, as load does without new data.", []string{"algorithm"}, nil)
	status = prometheus.NewDesc("extender_algorithm_status",
		"What an algorithm says of itself, as the age of its data.", []string{"algorithm", "name"}, nil)
)

func (algorithms) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- healthy
	descriptions <- status
}

func (a algorithms) Collect(collected chan<- prometheus.Metric) {
	for _, one := range a() {
		ok := 0.0
		if one.Health.OK {
			ok = 1
		}
		collected <- prometheus.MustNewConstMetric(healthy, prometheus.GaugeValue, ok, one.Name)
		for name, value := range one.Health.Gauges {
			collected <- prometheus.MustNewConstMetric(status, prometheus.GaugeValue, value, one.Name, name)
		}
	}
}
