package report

import (
	"fmt"

	"wasmkwokwizardry.io/regex-scheduling/bench/cycle"
	"wasmkwokwizardry.io/regex-scheduling/bench/sample"
	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// Tables are all that a person may want to know, the verdicts first.
func (r *Run) Tables() (tables []Table) {
	tables = append(tables, r.verdicts())
	if len(r.Cycles) > 0 {
		tables = append(tables, r.perNode(small), r.perPod(), r.byTheClock(), r.onHost(small), r.preFilters())
	}
	if len(r.Whole) > 0 {
		for _, n := range r.wholeNodes() {
			tables = append(tables, r.schedulers(n))
		}
	}
	if len(r.Starts) > 0 {
		tables = append(tables, r.starts())
	}
	return tables
}

func (r *Run) verdicts() Table {
	t := Table{
		Title: "Targets", Head: []string{"what", "worst at", "measured", "spread", "target", "verdict"},
		Note: "A ratio is the median of the ratios of the rounds. Lines that begin with … are no targets: they show where the time goes.",
	}
	for _, target := range r.Targets() {
		bound := "at most "
		if target.AtLeast {
			bound = "at least "
		}
		bound += number(target.Limit) + target.Unit
		if len(target.Measured) == 0 {
			t.add(target.What, "", "", "", bound, "not measured")
			continue
		}
		verdict := "met"
		if !target.Met() {
			verdict = "MISSED"
		}
		if target.Aside {
			bound, verdict = "", ""
		}
		t.add(target.What, target.Where, number(target.Measured.Median())+target.Unit, spread(target.Measured), bound, verdict)
	}
	return t
}

// spread shows how far the quartiles are from each other.
func spread(s sample.Sample) string {
	if len(s) < 2 {
		return ""
	}
	return fmt.Sprintf("±%.0f%%", 100*s.Spread())
}

// perNode shows every case that asks something of each node.
func (r *Run) perNode(nodes int) Table {
	t := Table{
		Title: fmt.Sprintf("A cycle, ns per node, %s nodes", thousands(fmt.Sprint(nodes))), Head: []string{"pattern"},
		Note: "Time of the processors: median, and half the distance of the quartiles. The last columns are v2 over the plugin compiled in, and over two floors.",
	}
	doors := r.doors()
	t.Head = append(append(t.Head, doors...), "v2/native-v2", "v2/name", "v2/reject")
	for _, c := range work.Cases() {
		if !c.Filtered {
			continue
		}
		row := []string{c.Name}
		for _, d := range doors {
			row = append(row, timed(r.cycle(d, c.Name, nodes), 1/float64(nodes)))
		}
		for _, under := range []string{"native-v2", "name", "reject"} {
			row = append(row, times(ratio(r.cycle("v2", c.Name, nodes), r.cycle(under, c.Name, nodes))))
		}
		t.add(row...)
	}
	return t
}

// perPod shows what a pod costs, by the number of nodes.
func (r *Run) perPod() Table {
	t := Table{Title: "A cycle, µs per pod", Head: []string{"pattern and nodes"}}
	doors := r.doors()
	t.Head = append(t.Head, doors...)
	for _, kase := range []string{"prefix", "finite", "none", "invalid"} {
		for _, n := range r.nodes() {
			row := []string{fmt.Sprintf("%s, %s", kase, thousands(fmt.Sprint(n)))}
			for _, d := range doors {
				row = append(row, timed(r.cycle(d, kase, n), 1e-3))
			}
			t.add(row...)
		}
	}
	return t
}

// byTheClock shows what a pod waits for. It says more than the processors' time
// where a door waits for something else, as for the network.
func (r *Run) byTheClock() Table {
	t := Table{Title: "A cycle by the clock, µs per pod, prefix", Head: []string{"nodes"}, Note: "A machine that is busy with something else stretches these."}
	doors := r.doors()
	t.Head = append(t.Head, doors...)
	for _, part := range []struct {
		cycle.Part
		about string
	}{{cycle.Whole, ""}, {cycle.Shared, ", on all processors"}} {
		for _, n := range r.nodes() {
			row := []string{thousands(fmt.Sprint(n)) + part.about}
			for _, d := range doors {
				c := r.find(d, "prefix", n, part.Part)
				if c != nil {
					c = &cycle.Result{Time: c.Wall}
				}
				row = append(row, timed(c, 1e-3))
			}
			t.add(row...)
		}
	}
	return t
}

func timed(c *cycle.Result, factor float64) string {
	if c == nil {
		return "–"
	}
	text := number(c.Time.Median() * factor)
	if len(c.Time) > 1 {
		text += fmt.Sprintf(" ±%.0f%%", 100*c.Time.Spread())
	}
	if c.Wrong != "" {
		text += " wrong"
	}
	return text
}

func times(s sample.Sample) string {
	if len(s) == 0 {
		return "–"
	}
	return number(s.Median()) + "×"
}
