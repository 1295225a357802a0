package bench

import (
	"slices"
	"testing"
)

// BenchmarkStart is what it takes until a guest can serve its first pod: the host
// compiles and instantiates it, and asks which events it waits for.
func BenchmarkStart(b *testing.B) {
	nowhere := newCluster(1)
	withGuest := slices.DeleteFunc(asked(b), func(d *variant) bool { return d.wasm == nil })
	inTurns(b, *rounds, "case=guest", withGuest, func(b *testing.B, d *variant) {
		for b.Loop() {
			s, err := d.open(nowhere)
			if err != nil {
				b.Fatal(err)
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(d.wasm)), "wasm-B")
	})
}
