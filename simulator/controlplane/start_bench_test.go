package controlplane

import (
	"testing"
	"time"
)

// BenchmarkCluster times a temporary cluster's start and stop.
func BenchmarkCluster(b *testing.B) {
	var start, stop time.Duration
	for b.Loop() {
		began := time.Now()
		c, err := Start(b.Context(), Config{})
		if err != nil {
			b.Fatal(err)
		}
		start += time.Since(began)
		began = time.Now()
		if err := c.Stop(); err != nil {
			b.Fatal(err)
		}
		stop += time.Since(began)
	}
	b.ReportMetric(start.Seconds()/float64(b.N), "s-to-start")
	b.ReportMetric(stop.Seconds()/float64(b.N), "s-to-stop")
}
