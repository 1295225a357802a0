package report

import (
	"fmt"

	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// onHost shows what a door costs the scheduler in memory.
func (r *Run) onHost(nodes int) Table {
	t := Table{
		Title: fmt.Sprintf("Memory, prefix, %s nodes", thousands(fmt.Sprint(nodes))),
		Head:  []string{"door", "allocations per node", "bytes per node", "memory of an instance, KiB"},
	}
	for _, d := range r.doors() {
		c := r.cycle(d, "prefix", nodes)
		if c == nil {
			continue
		}
		guest := ""
		if c.Memory > 0 {
			guest = number(float64(c.Memory) / 1024)
		}
		t.add(d, number(c.Allocs/float64(nodes)), number(c.Bytes/float64(nodes)), guest)
	}
	return t
}

func (r *Run) preFilters() Table {
	t := Table{Title: "PreFilter alone, µs", Head: []string{"pod"}}
	doors := r.doors()
	t.Head = append(t.Head, doors...)
	for _, c := range work.Cases() {
		row, any := []string{c.Name}, false
		for _, d := range doors {
			p := r.preFilter(d, c.Name, small)
			any = any || p != nil
			row = append(row, timed(p, 1e-3))
		}
		if any {
			t.add(row...)
		}
	}
	return t
}

func (r *Run) schedulers(nodes int) Table {
	t := Table{
		Title: fmt.Sprintf("Whole scheduler, %s pods on %s nodes", thousands(fmt.Sprint(r.Whole[0].Pods)), thousands(fmt.Sprint(nodes))),
		Head:  []string{"door", "pods/s", "spread", "cycle p50, ms", "p90, ms", "p99, ms", "max, ms", "pods not reached"},
		Note:  "A cycle is SchedulePod: all plugins and extenders, filtering and scoring, without the binding. The API server and etcd share the machine.",
	}
	for _, w := range r.Whole {
		if w.Nodes != nodes {
			continue
		}
		ms := w.Latency.Scale(1e-6)
		left := ""
		if w.Left > 0 {
			left = fmt.Sprint(w.Left)
		}
		t.add(w.Door, number(w.Rate.Median()), spread(w.Rate), number(ms.Median()), number(ms.Quantile(0.9)), number(ms.Quantile(0.99)), number(ms.Quantile(1)), left)
	}
	return t
}

func (r *Run) starts() Table {
	t := Table{
		Title: "Start of a guest: compiled, instantiated, asked for its events",
		Head:  []string{"guest", "ms", "spread", "size, KiB", "memory, KiB"},
	}
	for _, s := range r.Starts {
		t.add(s.Door, number(s.Time.Median()/1e6), spread(s.Time), number(float64(s.Size)/1024), number(float64(s.Memory)/1024))
	}
	return t
}
