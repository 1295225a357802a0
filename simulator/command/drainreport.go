package command

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/whatif/drain"
	"wasmkwokwizardry.io/regex-scheduling/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/whatif/words"
)

//go:embed drain.tmpl
var drainText string

// drainReport is what drain.tmpl shows. The first row of a table is its head.
type drainReport struct {
	*drain.Result
	Saves     float64             `json:"savesPerHour,omitempty"`
	Currency  string              `json:"-"` // of Saves; empty if there are no prices
	Shrink    bool                `json:"-"`
	Of        int                 `json:"-"` // nodes that were tried
	Again     string              `json:"-"` // the command that drains the nodes that go
	Workloads [][]string          `json:"-"`
	Pods      [][]string          `json:"-"`
	Blocked   map[string][]string `json:"-"` // nodes that cannot go, by the reason
}

func (r *removal) write(cmd *cobra.Command, removed *drain.Result) error {
	out := cmd.OutOrStdout()
	report := drainReport{Result: removed, Saves: r.saves(removed), Blocked: map[string][]string{}}
	if r.format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	report.Shrink, report.Of, report.Again = cmd.Name() == "shrink", len(r.options.Nodes), drainCommand(cmd, removed)
	if r.prices != nil {
		report.Currency = r.prices.Currency
	}
	report.Workloads, report.Pods = byWorkload(removed.Moves), byPod(removed.Moves)
	for _, node := range removed.Stay {
		report.Blocked[node.Reason] = append(report.Blocked[node.Reason], fmt.Sprintf("%s (%s)", node.Node, node.Pod))
	}
	table := tabbed
	if r.format == "markdown" {
		table = markdown
	}
	functions := template.FuncMap{"table": table, "plural": words.Plural, "few": words.Few}
	aligned := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	err := template.Must(template.New("").Funcs(functions).Parse(drainText)).Execute(aligned, report)
	return cmp.Or(err, aligned.Flush())
}

// tabbed is a table for a tabwriter.
func tabbed(rows [][]string) (text string) {
	for _, row := range rows {
		text += strings.Join(row, "\t") + "\n"
	}
	return text
}

// markdown is a table for a comment on a pull request.
func markdown(rows [][]string) (text string) {
	for i, row := range rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, strings.ReplaceAll(cell, "|", `\|`))
		}
		text += "| " + strings.Join(cells, " | ") + " |\n"
		if i == 0 {
			text += strings.Repeat("|---", len(row)) + "|\n"
		}
	}
	return text
}

// Summary counts where the pods go.
func (d drainReport) Summary() string {
	same, unschedulable := 0, d.Lost()
	for _, move := range d.Moves {
		if move.To == move.From {
			same++
		}
	}
	text := fmt.Sprintf("%s: %d to another node", words.Plural(len(d.Moves), "pod"), len(d.Moves)-same-unschedulable)
	if same > 0 {
		text += fmt.Sprintf(", %d back to the same", same)
	}
	return text + fmt.Sprintf(", %d unschedulable.", unschedulable)
}

// shownRows is how many rows of a table a person reads.
const shownRows = 40

// More is how many pods the table of pods does not show.
func (d drainReport) More() int { return max(0, len(d.Moves)-shownRows) }

// byWorkload counts the pods of each workload, first where most are unschedulable.
func byWorkload(moves []engine.Move) [][]string {
	type sum struct {
		name                string
		pods, unschedulable int
		reason              string
	}
	sums := map[string]sum{}
	for _, move := range moves {
		name := cmp.Or(move.Workload, "Pod "+move.Pod)
		of := sums[name]
		of.name = name
		of.pods++
		if move.To == "" {
			of.unschedulable++
			of.reason = cmp.Or(of.reason, move.Reason)
		}
		sums[name] = of
	}
	all := slices.SortedFunc(maps.Values(sums), func(a, b sum) int {
		return cmp.Or(cmp.Compare(b.unschedulable, a.unschedulable), cmp.Compare(a.name, b.name))
	})
	rows := [][]string{{"WORKLOAD", "PODS", "UNSCHEDULABLE", "REASON"}}
	for _, of := range all[:min(shownRows, len(all))] {
		rows = append(rows, []string{of.name, fmt.Sprint(of.pods), fmt.Sprint(of.unschedulable), of.reason})
	}
	return rows
}

// byPod shows where each pod goes.
func byPod(moves []engine.Move) [][]string {
	rows := [][]string{{"POD", "FROM", "TO", "REASON"}}
	for _, move := range moves[:min(shownRows, len(moves))] {
		if move.PreemptedBy != "" {
			move.Reason = strings.TrimSuffix("preempted by "+move.PreemptedBy+"; "+move.Reason, "; ")
		}
		rows = append(rows, []string{move.Pod, move.From, cmp.Or(engine.Place(move.To, move.Feasible), "-"), move.Reason})
	}
	return rows
}
