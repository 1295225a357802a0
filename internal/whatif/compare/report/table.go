package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"reflect"
	"slices"
	"text/tabwriter"
	"text/template"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
)

// Table writes a result for a console, and several in one table.
func Table(w io.Writer, results ...*compare.Result) error {
	if len(results) == 1 {
		return write(w, results[0], false)
	}
	return writeSeveral(w, results)
}

// Details is Table with the pods and the nodes that differ, of each result by itself.
func Details(w io.Writer, results ...*compare.Result) error {
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := write(w, r, true); err != nil {
			return err
		}
	}
	return nil
}

//go:embed table.tmpl
var console string

var table = template.Must(template.New("table").Funcs(functions).Funcs(template.FuncMap{
	"rows": rows, "counts": counts, "nodes": nodes, "folded": func(r *compare.Result) int { return len(r.Differences) + len(r.Pending) - len(rows(r)) },
}).Parse(console))

func write(w io.Writer, r *compare.Result, details bool) error {
	aligned := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	err := table.Execute(aligned, struct {
		*compare.Result
		Details bool
	}{r, details})
	return cmp.Or(err, aligned.Flush())
}

// rows are the pods that differ. Where there are many, knock-on effects are omitted.
func rows(r *compare.Result) []compare.Difference {
	all := slices.Concat(r.Differences, r.Pending)
	if few := direct(all); len(few) > 0 && len(all)-len(few) > shown {
		return few
	}
	return all
}

var words = map[compare.Kind]string{
	compare.Moved: "moved", compare.OnlyA: "only under A", compare.OnlyB: "only under B", compare.Pending: "pending",
	compare.Unplaced: "no node under A",
}

func named(kind compare.Kind) string { return words[kind] }

func runs(r *compare.Result, d compare.Difference) string {
	if len(r.Runs) == 1 || d.Kind == compare.Pending {
		return ""
	}
	return fmt.Sprintf(" (in %d of %d runs)", d.Runs, len(r.Runs))
}

// counts are those of each run, and of all where there are several.
func counts(r *compare.Result) (rows [][]string) {
	var low, high []int
	for i, run := range r.Runs {
		counts := []int{run.Same, run.Moved, run.OnlyA, run.OnlyB, run.Pending, run.Ties, run.Unplaced}
		if i == 0 {
			low, high = slices.Clone(counts), slices.Clone(counts)
		}
		row := []string{fmt.Sprint("seed ", run.Seed)}
		for j, count := range counts {
			low[j], high[j] = min(low[j], count), max(high[j], count)
			row = append(row, fmt.Sprint(count))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.2f %%, %.2f %%", run.CPUDeviationA, run.CPUDeviationB)))
	}
	row := []string{"all runs"}
	for j := range low {
		if low[j] == high[j] {
			row = append(row, fmt.Sprint(low[j]))
		} else {
			row = append(row, fmt.Sprintf("%d…%d", low[j], high[j]))
		}
	}
	if len(rows) > 1 {
		rows = append(rows, row)
	}
	return rows
}

// nodes are those that differ, and first those that differ most.
func nodes(r *compare.Result) []compare.NodeLoad {
	differ := slices.DeleteFunc(slices.Clone(r.Load.Nodes), same)
	slices.SortStableFunc(differ, func(a, b compare.NodeLoad) int { return cmp.Compare(apart(b), apart(a)) })
	return differ
}

// same is true of a node that carries the same on both sides.
func same(n compare.NodeLoad) bool { return reflect.DeepEqual(n.A, n.B) }

// apart is by how much of its CPU a node differs.
func apart(n compare.NodeLoad) float64 {
	return max(compare.Percent(n.A.CPU-n.B.CPU, n.Has.CPU), compare.Percent(n.B.CPU-n.A.CPU, n.Has.CPU))
}
