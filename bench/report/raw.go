package report

import (
	"fmt"
	"io"
	"runtime"

	"wasmkwokwizardry.io/regex-scheduling/bench/cycle"
)

// Raw writes every single measurement in the format of Go's benchmarks, which
// benchstat reads: compare two runs with it.
func (r *Run) Raw(w io.Writer) {
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: wasmkwokwizardry.io/regex-scheduling/bench\ncpu: %s\n", runtime.GOOS, runtime.GOARCH, r.Machine.CPU)
	for _, c := range r.Cycles {
		rawCycle(w, c)
	}
	for _, x := range r.Whole {
		for _, rate := range x.Rate {
			fmt.Fprintf(w, "BenchmarkWhole/door=%s/nodes=%d/pods=%d-%d\t1\t%.1f pods/s\t%.0f p50-ns\t%.0f p99-ns\n",
				x.Door, x.Nodes, x.Pods, runtime.GOMAXPROCS(0), rate, x.Latency.Median(), x.Latency.Quantile(0.99))
		}
	}
	for _, s := range r.Starts {
		for _, ns := range s.Time {
			fmt.Fprintf(w, "BenchmarkStart/door=%s-%d\t1\t%.0f ns/op\t%d wasm-B\t%d memory-B\n", s.Door, runtime.GOMAXPROCS(0), ns, s.Size, s.Memory)
		}
	}
}

func rawCycle(w io.Writer, c cycle.Result) {
	for i, ns := range c.Wall {
		fmt.Fprintf(w, "Benchmark%s/door=%s/case=%s/nodes=%d-%d\t%d\t%.1f ns/op\t%.0f B/op\t%.0f allocs/op", c.Part, c.Door, c.Case, c.Nodes, runtime.GOMAXPROCS(0), c.Cycles[i], ns, c.Bytes, c.Allocs)
		fmt.Fprintf(w, "\t%.1f cpu-ns/op", c.Time[i])
		if c.Part != cycle.PreFilter {
			fmt.Fprintf(w, "\t%.1f cpu-ns/node", c.Time[i]/float64(c.Nodes))
		}
		if c.Memory > 0 {
			fmt.Fprintf(w, "\t%d memory-B", c.Memory)
		}
		fmt.Fprintln(w)
	}
}
