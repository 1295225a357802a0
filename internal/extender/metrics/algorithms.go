package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
)

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
