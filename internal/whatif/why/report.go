package why

import (
	"fmt"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
)

// Report is the result for people, without what only a page can show.
func (r *Result) Report() report.Report {
	all := report.Report{Answer: r.Verdict, Sections: []report.Section{{Text: []string{r.Hint}}}}
	a := r.Attempt
	if a != nil {
		if a.Message != "" {
			all.Sections[0].Text = append(all.Sections[0].Text, "The scheduler says: "+a.Message)
		}
		all.Sections = append(all.Sections, causesOf(a), preFilter(a), nodes(a))
	}
	var last report.Section
	if r.Others > 0 {
		last.Text = append(last.Text, report.Plural(r.Others, "other pod")+" that the cluster has pending got a node in the copy.")
	}
	if r.Basis != nil {
		last.Text = append(last.Text, r.Basis.String())
	}
	all.Sections = append(all.Sections, last)
	return all
}

// causesOf says how many nodes which plugin rejects, and why.
func causesOf(a *recorder.Attempt) report.Section {
	var rows [][]string
	for _, group := range a.Causes() {
		plugin := ""
		if group.Column >= 0 {
			plugin = a.Columns[group.Column].Name
		}
		rows = append(rows, []string{fmt.Sprint(group.Len()), plugin, group.Reason, report.Few(group.Nodes())})
	}
	return report.Table("", []string{"NODES", "PLUGIN", "REASON", "WHICH"}, rows)
}

// preFilter has the verdicts on the pod itself.
func preFilter(a *recorder.Attempt) report.Section {
	var rows [][]string
	for _, same := range recorder.ByVerdict("", a.PreFilter) {
		var plugins []string
		for _, one := range same.Plugins {
			if one.Reason != "" {
				one.Plugin += " (" + one.Reason + ")"
			}
			plugins = append(plugins, one.Plugin)
		}
		rows = append(rows, []string{same.Verdict.Word(), strings.Join(plugins, ", ")})
	}
	return report.Table("", []string{"BEFORE THE NODES", "PLUGINS"}, rows)
}

// nodes has the verdicts on nodes, without plugins that are not applicable to the pod or ran on none.
func nodes(a *recorder.Attempt) report.Section {
	head := []string{"NODE"}
	var columns []int
	for _, column := range a.Heads() {
		ran := slices.ContainsFunc(a.Groups, func(g recorder.Group) bool { return a.Cell(g, column) != recorder.NotRun })
		if ran && !a.Columns[column].Skipped {
			head = append(head, a.Columns[column].Name)
			columns = append(columns, column)
		}
	}
	var rows [][]string
	for _, group := range a.Groups {
		for _, node := range group.Nodes() {
			row := []string{node}
			for _, column := range columns {
				row = append(row, a.Cell(group, column).Word())
			}
			rows = append(rows, row)
		}
	}
	return report.Table("", head, rows)
}
