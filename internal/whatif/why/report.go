package why

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/words"
)

//go:embed why.tmpl
var text string

// Formats write a result, without what only a page can show.
var Formats = map[string]func(io.Writer, *Result) error{
	"table": written(words.Tabbed), "markdown": written(words.Markdown),
	"json": func(w io.Writer, r *Result) error { return words.JSON(w, r) },
}

func written(table func([][]string) string) func(io.Writer, *Result) error {
	functions := template.FuncMap{"table": table, "plural": words.Plural}
	report := template.Must(template.New("").Funcs(functions).Parse(text))
	return func(w io.Writer, r *Result) error {
		aligned := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		return cmp.Or(report.Execute(aligned, r), aligned.Flush())
	}
}

// Causes are a table: how many nodes which plugin rejects, and why.
func (r *Result) Causes() [][]string {
	rows := [][]string{{"NODES", "PLUGIN", "REASON", "WHICH"}}
	for _, group := range r.Attempt.Causes() {
		plugin := ""
		if group.Column >= 0 {
			plugin = r.Attempt.Columns[group.Column].Name
		}
		rows = append(rows, []string{fmt.Sprint(group.Len()), plugin, group.Reason, words.Few(group.Nodes())})
	}
	return rows
}

// PreFilter is a table of the verdicts on the pod itself.
func (r *Result) PreFilter() [][]string {
	rows := [][]string{{"BEFORE THE NODES", "PLUGINS"}}
	for _, same := range recorder.ByVerdict("", r.Attempt.PreFilter) {
		var plugins []string
		for _, one := range same.Plugins {
			if one.Reason != "" {
				one.Plugin += " (" + one.Reason + ")"
			}
			plugins = append(plugins, one.Plugin)
		}
		rows = append(rows, []string{same.Verdict.Word(), strings.Join(plugins, ", ")})
	}
	return rows
}

// Nodes are a table of nodes by plugins, but for those that are not applicable to the pod, or
// ran on none.
func (r *Result) Nodes() [][]string {
	a := r.Attempt
	head, columns := []string{"NODE"}, []int{}
	for _, column := range a.Heads() {
		ran := slices.ContainsFunc(a.Groups, func(g recorder.Group) bool { return a.Cell(g, column) != recorder.NotRun })
		if ran && !a.Columns[column].Skipped {
			head, columns = append(head, a.Columns[column].Name), append(columns, column)
		}
	}
	rows := [][]string{head}
	for _, group := range a.Groups {
		for _, node := range group.Nodes()[:min(group.Len(), words.ShownRows+1-len(rows))] {
			row := []string{node}
			for _, column := range columns {
				row = append(row, a.Cell(group, column).Word())
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// More is how many nodes the table does not have.
func (r *Result) More() int { return max(0, r.Attempt.Total-words.ShownRows) }
