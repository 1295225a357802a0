package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
)

// shown is how many rows of a table a person reads; JSON has all of them.
const shown = 40

// Table writes the result for a console.
func Table(w io.Writer, r *compare.Result) error {
	t := &table{tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)}
	t.row("A", r.A)
	t.row("B", r.B)
	t.line("%s: %s.", scheduled(r), Verdict(r))
	t.unplaced(r)
	t.differences(r)
	t.counts(r)
	t.loads(r)
	t.nodes(r)
	t.leftOut(r)
	return t.Flush()
}

type table struct{ *tabwriter.Writer }

func (t *table) row(cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(t, "\t")
		}
		fmt.Fprint(t, cell)
	}
	fmt.Fprintln(t)
}

// line stands by itself, and so does not widen a column.
func (t *table) line(format string, args ...any) {
	_ = t.Flush()
	fmt.Fprintf(t, "\n"+format+"\n\n", args...)
	_ = t.Flush()
}

func (t *table) more(rows int) {
	if rows > shown {
		t.row(fmt.Sprintf("and %d more; -o json has all", rows-shown))
	}
}

func (t *table) unplaced(r *compare.Result) {
	if len(r.Unplaced) == 0 {
		return
	}
	t.row("RUNS, AND HAS NO NODE UNDER A", "REASON")
	for _, d := range r.Unplaced[:min(shown, len(r.Unplaced))] {
		t.row(d.Namespace+"/"+d.Name+runs(r, d), why(d))
	}
	t.more(len(r.Unplaced))
	t.line("No node under A where there was one: if A is what the cluster runs with, the copy lacks something. B has no part in it.")
}

func (t *table) differences(r *compare.Result) {
	rows := slices.Concat(r.Differences, r.Nowhere)
	folded := 0
	if few := direct(rows); len(few) > 0 && len(rows)-len(few) > shown {
		rows, folded = few, len(rows)-len(few)
	}
	if len(rows) == 0 {
		return
	}
	t.row("POD", "DIFFERENCE", "NODE UNDER A", "NODE UNDER B", "REASON")
	for _, d := range rows {
		t.row(d.Namespace+"/"+d.Name, words[d.Kind]+runs(r, d), where(d.A), where(d.B), why(d))
	}
	if folded > 0 {
		t.row(fmt.Sprintf("and %d that follow from these; -o json and -o html have them", folded))
	}
	t.row()
}

var words = map[compare.Kind]string{
	compare.Elsewhere: "elsewhere", compare.OnlyA: "only under A", compare.OnlyB: "only under B", compare.Nowhere: "nowhere",
	compare.Unplaced: "no node under A",
}

func runs(r *compare.Result, d compare.Difference) string {
	if len(r.Runs) == 1 || d.Kind == compare.Nowhere {
		return ""
	}
	return fmt.Sprintf(" (in %d of %d runs)", d.Runs, len(r.Runs))
}

func (t *table) counts(r *compare.Result) {
	t.row("PODS", "SAME", "ELSEWHERE", "ONLY UNDER A", "ONLY UNDER B", "NOWHERE", "TIES", "UNPLACED", "CPU DEVIATION A, B")
	var low, high []int
	for i, run := range r.Runs {
		counts := []int{run.Same, run.Elsewhere, run.OnlyA, run.OnlyB, run.Nowhere, run.Ties, run.Unplaced}
		if i == 0 {
			low, high = slices.Clone(counts), slices.Clone(counts)
		}
		row := []any{fmt.Sprint("seed ", run.Seed)}
		for j, count := range counts {
			low[j], high[j] = min(low[j], count), max(high[j], count)
			row = append(row, count)
		}
		t.row(append(row, fmt.Sprintf("%.2f %%, %.2f %%", run.CPUDeviationA, run.CPUDeviationB))...)
	}
	if len(r.Runs) > 1 {
		row := []any{"all runs"}
		for j := range low {
			if low[j] == high[j] {
				row = append(row, low[j])
			} else {
				row = append(row, fmt.Sprintf("%d…%d", low[j], high[j]))
			}
		}
		t.row(row...)
	}
	t.row()
}

func (t *table) loads(r *compare.Result) {
	t.row("REQUESTED", "CPU", "MEMORY", "PODS", "UNEVENNESS (CPU: MIN, MAX, DEVIATION)", "TIME PER POD (P50, P99)")
	for _, side := range []struct {
		name  string
		load  compare.Load
		times string
	}{
		{"before", r.Load.Before, "-"},
		{"A", r.Load.A, Brief(r.TimesA.P50) + ", " + Brief(r.TimesA.P99)},
		{"B", r.Load.B, Brief(r.TimesB.P50) + ", " + Brief(r.TimesB.P99)},
	} {
		sum := side.load.Requested
		t.row(side.name, cores(sum.CPU)+" of "+cores(r.Load.Has.CPU), gibibytes(sum.Memory)+" of "+gibibytes(r.Load.Has.Memory)+" GiB",
			fmt.Sprintf("%d of %d", sum.Pods, r.Load.Has.Pods),
			fmt.Sprintf("%.1f %%, %.1f %%, %.2f %%", side.load.CPU.Min, side.load.CPU.Max, side.load.CPU.StandardDeviation), side.times)
	}
	t.row()
}

// nodes shows those that differ most.
func (t *table) nodes(r *compare.Result) {
	differ := slices.DeleteFunc(slices.Clone(r.Load.Nodes), func(n compare.NodeLoad) bool { return n.A == n.B })
	if len(differ) == 0 {
		return
	}
	slices.SortStableFunc(differ, func(a, b compare.NodeLoad) int { return cmp.Compare(apart(b), apart(a)) })
	t.row("NODE", "CPU UNDER A", "B", "MEMORY UNDER A", "B", "PODS UNDER A", "B")
	for _, n := range differ[:min(shown, len(differ))] {
		t.row(n.Node, cores(n.A.CPU), cores(n.B.CPU), gibibytes(n.A.Memory)+" GiB", gibibytes(n.B.Memory)+" GiB", n.A.Pods, n.B.Pods)
	}
	t.more(len(differ))
}

func (t *table) leftOut(r *compare.Result) {
	for _, notice := range r.LeftOut {
		t.line("Left out on both sides: %s", notice)
	}
}

// apart is by how much of its CPU a node differs.
func apart(n compare.NodeLoad) float64 {
	return max(compare.Percent(n.A.CPU-n.B.CPU, n.Has.CPU), compare.Percent(n.B.CPU-n.A.CPU, n.Has.CPU))
}
