package compare

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	quota "k8s.io/apiserver/pkg/quota/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Write writes results with the same A. Details are the pods and the nodes that differ. A single result
// has a page of its own in HTML.
func Write(w io.Writer, format string, details bool, results ...*Result) error {
	if len(results) > 1 {
		return report.Write(w, format, results, newReport(details, results))
	}
	if format == "html" {
		return Page(w, results[0], "", time.Now())
	}
	return report.Write(w, format, results[0], newReport(details, results))
}

// newReport is results for people. Of several it has no more than sums, without details.
func newReport(details bool, results []*Result) report.Report {
	first := results[0]
	all := report.Report{Answer: first.sentence("B") + "."}
	if len(results) > 1 {
		all.Answer = fmt.Sprintf("%s compared with %s (A).", report.Plural(len(results), "configuration"), first.A)
		var answers report.Section
		for i, r := range results {
			answers.List = append(answers.List, report.Item{Text: r.sentence(letter(i, len(results))) + "."})
		}
		all.Sections = []report.Section{answers}
	}
	all.Answer += first.caveat()
	last := basis(results)
	all.Sections = append(all.Sections, last.Lacking(), report.Section{Text: []string{first.scheduled() + "."}}, summary(results), counts(results), report.Section{Text: []string{Terms}})
	for i, r := range results {
		for _, s := range r.sections(details) {
			if len(results) > 1 {
				s.Title = letter(i, len(results)) + ": " + s.Title
			}
			if len(results) == 1 || details {
				all.Sections = append(all.Sections, s)
			}
		}
	}
	all.Sections = slices.Concat(report.Once(all.Sections, nil), last.Remedies(), []report.Section{{Text: []string{last.String()}}})
	return all
}

// sections are what follows the summary.
func (r *Result) sections(details bool) []report.Section {
	all := []report.Section{r.unplaced(), r.workloads(), r.groups()}
	if details {
		all = append(all, r.pods(), r.nodes())
	}
	return append(all, r.rejected())
}

func (r *Result) rejected() report.Section {
	var rows [][]string
	for _, notice := range snapshot.Grouped(r.Rejected) {
		rows = append(rows, []string{notice.About, notice.Reason})
	}
	return report.Table("Rejected by the API server on both sides", []string{"OBJECT", "REASON"}, rows)
}

// summary is a table of the lines of [Result.Summary]. Of several results, it has only lines with values.
func summary(results []*Result) report.Section {
	rows := [][]string{{"", "TODAY", "A: " + results[0].A}}
	for i, r := range results {
		rows[0] = append(rows[0], letter(i, len(results))+": "+r.B)
	}
	for i, line := range results[0].Summary {
		if line.Says != "" && len(results) == 1 {
			rows = append(rows, []string{line.About, line.Says})
		}
		if line.Says != "" {
			continue
		}
		row := []string{line.About, line.Today, line.A}
		for _, r := range results {
			row = append(row, r.Summary[i].B)
		}
		rows = append(rows, row)
	}
	return report.Section{ID: "answer", Rows: rows}
}

// letter is what the i-th of so many Bs is called.
func letter(i, of int) string {
	if of == 1 {
		return "B"
	}
	return fmt.Sprint("B", i+1)
}

// counts are all pods by result.
func counts(results []*Result) report.Section {
	var rows [][]string
	for i, r := range results {
		head, row := []string{"PODS"}, []string{letter(i, len(results))}
		for _, one := range r.shares() {
			head = append(head, strings.ToUpper(one.Word))
			row = append(row, fmt.Sprint(one.Count))
		}
		if i == 0 {
			rows = append(rows, head)
		}
		rows = append(rows, row)
	}
	return report.Section{Rows: rows}
}

// share is how many pods have a result.
type share struct {
	Class, Word string
	Count       int
	X, Width    float64 // in a bar of all pods
}

// shares are all results that a pod may have. What is there is wide enough in a bar to be seen.
func (r *Result) shares() []share {
	c := r.Counts
	all := []share{
		{Class: "unplaced", Word: "unplaced", Count: c.Unplaced},
		{Class: "onlyA", Word: "only under A", Count: c.OnlyA},
		{Class: "onlyB", Word: "only under B", Count: c.OnlyB},
		{Class: "moved", Word: "moved", Count: c.Moved - c.Follows},
		{Class: "follows", Word: "moved as a knock-on effect", Count: c.Follows},
		{Class: "pending", Word: "pending", Count: c.Pending},
		{Class: "tie", Word: "ties", Count: c.Ties},
		{Class: "same", Word: "the same", Count: c.Same},
	}
	pods, x := 0, 0.0
	for _, one := range all {
		pods += one.Count
	}
	for i := range all {
		all[i].X = x
		if all[i].Count > 0 {
			all[i].Width = max(float64(all[i].Count), .006*float64(pods))
		}
		x += all[i].Width
	}
	return all
}

// scheduled says which pods were scheduled.
func (r *Result) scheduled() string {
	what := report.Plural(r.Asked, "pending pod") + " on " + report.Plural(r.Nodes, "node")
	if r.Pods == side.All {
		what = report.Plural(r.Asked, "pod") + " on " + report.Plural(r.Nodes, "node") + ", all rescheduled from scratch"
	}
	if r.Steps > 0 {
		what += ", then " + report.Plural(r.Steps, "step")
	}
	return what
}

// Ignored are the pods whose regex no configuration of some results reads.
func Ignored(results []*Result) []string {
	ignored := sets.New(results[0].Ignored...)
	for _, r := range results[1:] {
		ignored = ignored.Intersection(sets.New(r.Ignored...))
	}
	return sets.List(ignored)
}

// AllRenamed are the sentences about what sides of some results ignore, since they read other annotations.
func AllRenamed(results []*Result) (all []string) {
	for _, r := range results {
		for _, one := range r.Renamed {
			if !slices.Contains(all, one.String()) {
				all = append(all, one.String())
			}
		}
	}
	return all
}

// basis is how results came about, and what they do not have of a real cluster.
func basis(results []*Result) report.Basis {
	first := results[0]
	basis := report.Basis{Lacks: first.Lacks, Remedy: first.Remedy, Cluster: first.Cluster, Config: first.A + " (A)", Seed: first.Seed, Ignored: Ignored(results), Skipped: first.Skipped, Inferred: first.Inferred, NotModelled: first.NotModelled}
	basis.Renamed = AllRenamed(results)
	for i, one := range results {
		basis.Config += fmt.Sprintf(" and %s (%s)", one.B, letter(i, len(results)))
	}
	return basis
}

func (r *Result) unplaced() report.Section {
	var rows [][]string
	for _, d := range r.Unplaced {
		rows = append(rows, []string{d.key(), d.why()})
	}
	s := report.Table("Running pods that are pending under A", []string{"POD", "REASON"}, rows)
	if len(rows) > 0 {
		s.Text = []string{"If A is the configuration that the cluster uses, the copy lacks something that these pods need. This does not depend on B."}
	}
	return s
}

// workloads lists workloads with pods whose result differs.
func (r *Result) workloads() report.Section {
	var rows [][]string
	for _, w := range r.Workloads {
		if len(w.Kinds) > 0 {
			rows = append(rows, []string{w.String(), w.difference()})
		}
	}
	s := report.Table(report.Plural(len(rows), "workload")+" with pods whose result differs", []string{"WORKLOAD", "DIFFERENCE"}, rows)
	s.ID = "workloads"
	return s
}

func (w *Workload) String() string {
	if w.Kind == "" {
		return w.Namespace + "/pods of no workload"
	}
	return w.Namespace + "/" + w.Kind + "/" + w.Name
}

// difference counts pods by their difference, and pods by zone where that is another under B.
func (w *Workload) difference() string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(w.Kinds)) {
		all = append(all, fmt.Sprintf("%d of %s %s", w.Kinds[kind], report.Plural(w.Replicas, "replica"), kind.word()))
	}
	text := strings.Join(all, ", ")
	if w.Follow > 0 {
		text += fmt.Sprintf(" (%d as a knock-on effect)", w.Follow)
	}
	var a, b []string
	for _, zone := range slices.Sorted(maps.Keys(w.Over)) {
		a = append(a, fmt.Sprint(w.Over[zone][1]))
		b = append(b, fmt.Sprint(w.Over[zone][2]))
	}
	const most = 9 // zones
	if !slices.Equal(a, b) && len(a) > 1 && len(a) <= most {
		text += fmt.Sprintf("; zone %s → %s", strings.Join(a, "/"), strings.Join(b, "/"))
	}
	return text
}

// groups says how many nodes are used, and what is requested of each resource: today, under A, under B.
func (r *Result) groups() report.Section {
	if r.Nodes == 0 {
		return report.Section{}
	}
	head := []string{"NODES", "USED"}
	for _, name := range r.Load.Resources() {
		head = append(head, strings.ToUpper(string(name)))
	}
	rows := [][]string{head}
	for _, g := range append([]Group{{"", r.Load}}, r.Groups...) {
		l := g.Loads
		row := []string{"zone " + cmp.Or(g.Zone, "none"), fmt.Sprintf("%d, %d, %d of %d", l.Before.Used, l.A.Used, l.B.Used, l.A.Used+l.A.Empty)}
		for _, name := range r.Load.Resources() {
			row = append(row, fmt.Sprintf("%s, %s, %s of %s",
				amount(l.Before.Requested, name), amount(l.A.Requested, name), amount(l.B.Requested, name), amount(l.Has, name)))
		}
		rows = append(rows, row)
	}
	rows[1][0] = "all"
	return report.Section{ID: "groups", Title: "Nodes: today, under A, under B", Rows: rows}
}

// pods are the pods that differ. Where there are many, knock-on effects are omitted.
func (r *Result) pods() report.Section {
	all := slices.Concat(r.Differences, r.Pending)
	shown := direct(all)
	if len(shown) == 0 || len(all)-len(shown) <= report.ShownRows {
		shown = all
	}
	var rows [][]string
	for _, d := range shown {
		rows = append(rows, []string{d.key(), d.Kind.word(), where(d.A), where(d.B), d.why()})
	}
	if len(rows) == 0 {
		return report.Section{}
	}
	head := []string{"POD", "DIFFERENCE", "NODE UNDER A", "NODE UNDER B", "REASON"}
	return report.Section{Title: "Pods that differ", Rows: append([][]string{head}, rows...), More: len(all) - len(shown)}
}

// nodes are the nodes that differ, first where CPU differs most.
func (r *Result) nodes() report.Section {
	differ := slices.DeleteFunc(slices.Clone(r.Load.Nodes), func(n NodeLoad) bool { return quota.Equals(n.A, n.B) })
	slices.SortStableFunc(differ, func(a, b NodeLoad) int { return cmp.Compare(b.apart(), a.apart()) })
	var rows [][]string
	for _, n := range differ {
		row := []string{n.Node}
		for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourcePods} {
			row = append(row, amount(n.A, name), amount(n.B, name))
		}
		rows = append(rows, row)
	}
	return report.Table("Nodes that differ", []string{"NODE", "CPU UNDER A", "B", "MEMORY UNDER A", "B", "PODS UNDER A", "B"}, rows)
}

// apart is by how much of its CPU a node differs.
func (n NodeLoad) apart() float64 {
	return math.Abs(float(n.A, v1.ResourceCPU)-float(n.B, v1.ResourceCPU)) / max(float(n.Has, v1.ResourceCPU), 1e-3)
}

// amount is how much of a resource it is: memory in GiB.
func amount(of v1.ResourceList, name v1.ResourceName) string {
	much := float(of, name)
	unit := ""
	if name == v1.ResourceMemory {
		much /= 1 << 30
		unit = " GiB"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", much), ".0") + unit
}

// where is the node of a pod, or why it has none.
func where(o side.Outcome) string {
	switch {
	case o.Node != "":
		return o.Node
	case o.State == engine.Preempted:
		return "preempted"
	case o.State == engine.Gone:
		return "gone"
	}
	return "-"
}

func (d *Difference) why() string {
	reason := d.Reason
	if d.Plugin != "" {
		reason = d.Plugin + ": " + reason
	}
	if d.Follows && d.Cause != Tie {
		reason += " (knock-on effect)"
	}
	return reason
}

func (k Kind) word() string {
	words := map[Kind]string{Moved: "moved", OnlyA: "only under A", OnlyB: "only under B", Pending: "pending", Unplaced: "no node under A"}
	return words[k]
}
