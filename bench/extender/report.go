package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"time"
)

// The targets of the project. The verdicts are for the number of nodes that
// they were set for.
const (
	targetNodes  = 5000
	targetFull   = 1.25 // times the baseline
	targetNames  = 1.5  // times the baseline
	targetMemory = 3.0  // times the body
	targetSlope  = 1.1  // of log time over log nodes, where 1 is that of the baseline
)

func report(w io.Writer, results []result) {
	fmt.Fprintf(w, "%s, %s/%s, GOMAXPROCS %d. Times are medians, as kube-scheduler sees them: its own encoding\n"+
		"and decoding with encoding/json included; a ratio is the median of the\n"+
		"rounds' ratios to the baseline, with the 10th and the 90th percentile; memory is what the process allocates.\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	fmt.Fprintln(w, "| request | nodes | body | answer | baseline | extender | ratio | typed encoding/json | ratio | memory, first request | later ones |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, r := range results {
		low, ratio, high := ratios(r.ours, r.baseline)
		fmt.Fprintf(w, "| %s | %d | %s | %s | %s | %s | %.2f (%.2f to %.2f) | %s | %.1f | %.2f × body | %.2f × body |\n",
			r.form, r.nodes, size(r.body), size(r.answer), short(median(r.baseline)), short(median(r.ours)), ratio, low, high,
			short(median(r.typed)), float64(median(r.typed))/float64(median(r.baseline)),
			float64(r.cold)/float64(r.body), float64(r.warm)/float64(r.body))
	}
	fmt.Fprintln(w)
	verdicts(w, results)
}

func verdicts(w io.Writer, results []result) {
	for _, form := range []struct {
		name  string
		limit float64
	}{{"full nodes", targetFull}, {"names", targetNames}} {
		var of []result
		for _, r := range results {
			if r.form != form.name {
				continue
			}
			of = append(of, r)
			if r.nodes == targetNodes {
				_, ratio, _ := ratios(r.ours, r.baseline)
				verdict(w, fmt.Sprintf("%s, %d nodes: time over the baseline's", r.form, r.nodes), ratio, form.limit)
				verdict(w, fmt.Sprintf("%s, %d nodes: memory of a request over the body", r.form, r.nodes), float64(r.warm)/float64(r.body), targetMemory)
			}
		}
		if len(of) < 2 {
			continue
		}
		if first, last := of[0], of[len(of)-1]; last.nodes > first.nodes {
			beyond := func(r result) float64 { return float64(median(r.ours)) / float64(median(r.baseline)) }
			slope := 1 + math.Log(beyond(last)/beyond(first))/math.Log(float64(last.nodes)/float64(first.nodes))
			verdict(w, fmt.Sprintf("%s, %d to %d nodes: growth, where 1 is that of the baseline", form.name, first.nodes, last.nodes), slope, targetSlope)
		}
	}
}

func verdict(w io.Writer, what string, got, limit float64) {
	word := "met"
	if got > limit {
		word = "MISSED"
	}
	fmt.Fprintf(w, "- %s: %.2f, target %.2f: %s\n", what, got, limit, word)
}

// ratios are the 10th percentile, the median and the 90th of a[i]/b[i].
func ratios(a, b []time.Duration) (low, mid, high float64) {
	all := make([]float64, len(a))
	for i := range a {
		all[i] = float64(a[i]) / float64(b[i])
	}
	slices.Sort(all)
	return all[len(all)/10], all[len(all)/2], all[len(all)*9/10]
}

func median(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}

func size(n int) string {
	if n < 1e6 {
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func short(d time.Duration) string { return d.Round(max(time.Microsecond, d/1000)).String() }
