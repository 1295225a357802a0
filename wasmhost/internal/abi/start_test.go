package abi

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/static"
)

func BenchmarkStart(b *testing.B) {
	for _, file := range []string{"regex_v1.wasm", "regex_v2.wasm"} {
		b.Run(file, func(b *testing.B) {
			wasm, err := static.Files.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			g, err := Compile(b.Context(), wasm, Options{MemoryLimit: 16 << 20})
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close(b.Context())
			size := uint32(0)
			for b.Loop() {
				i, err := g.Start(b.Context(), Settings{})
				if err != nil {
					b.Fatal(err)
				}
				size = i.MemorySize()
				_ = i.Close(b.Context())
			}
			b.ReportMetric(float64(size)/(1<<20), "MiB")
		})
	}
}
