package bench

import (
	"slices"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// BenchmarkStart measures the start of a guest up to its first pod: the host compiles and
// instantiates it, and asks for the events that it registers.
func BenchmarkStart(b *testing.B) {
	one := newCluster(1)
	withGuest := slices.DeleteFunc(asked(b), func(d *variant) bool { return d.wasm == nil })
	inTurns(b, *rounds, "case=guest", withGuest, func(b *testing.B, d *variant) {
		for b.Loop() {
			s, err := d.open(one)
			testkit.Must(b, err)
			testkit.Must(b, s.Close())
		}
		b.ReportMetric(float64(len(d.wasm)), "wasm-B")
	})
}
