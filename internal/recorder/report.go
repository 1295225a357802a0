package recorder

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

// Because is why no node was found, as the rest of a sentence that says that the pod is
// pending. message is the scheduler's own.
func (a *Attempt) Because(message string) string {
	switch {
	case a.Result == Failed:
		return " because the scheduler failed: " + message
	case a.PodGroup.Note() != "" || len(a.Causes()) == 0:
		return " because " + message
	}
	by := a.RejectedItself()
	if by != nil && !by.LimitsNodes {
		return fmt.Sprintf(", and another node would not help: %s (plugin %s)", by.Reason, by.Plugin)
	}
	return " because " + causes(a)
}

// Reason is why an attempt has found no node. The cause is the reason without the numbers of
// nodes: it is the same for pods that are pending for the same cause. If a plugin has rejected the pod itself, for example
// for a missing claim, the reason may name what only this pod has: the cause is then the plugin and the workload.
func (a *Attempt) Reason(workload *metav1.OwnerReference) (reason, cause string) {
	nodes := map[string]int{} // by reason
	for _, g := range a.Causes() {
		nodes[g.Reason] += g.Len()
	}
	if a.Result != Unschedulable || a.Node != "" || a.Fits != "" || len(nodes) == 0 {
		return a.Message, a.Message
	}
	causes := slices.Sorted(maps.Keys(nodes))
	cause = strings.Join(causes, "; ")
	by := a.RejectedItself()
	if by != nil && workload != nil {
		cause = by.Plugin + " rejects pods of " + workload.Kind + " " + workload.Name
	}
	if by != nil {
		return by.Reason, cause
	}
	slices.SortStableFunc(causes, func(a, b string) int { return nodes[b] - nodes[a] })
	for i, one := range causes {
		causes[i] = fmt.Sprintf("%d %s", nodes[one], one)
	}
	return fmt.Sprintf("0/%d nodes are available: %s.", a.Total, strings.Join(causes, "; ")), cause
}

// Sections are the attempt for people: the causes first, then what is behind them.
func (a *Attempt) Sections() []report.Section {
	var lacking report.Section
	for _, s := range a.Shortages {
		lacking.Text = append(lacking.Text, s.String())
	}
	return []report.Section{causesOf(a), lacking, preFilterTable(a), nodeTable(a)}
}

// causesOf says how many nodes which plugin rejects, and why.
func causesOf(a *Attempt) report.Section {
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

// preFilterTable has the verdicts on the pod itself.
func preFilterTable(a *Attempt) report.Section {
	var rows [][]string
	for _, same := range ByVerdict("", a.PreFilter) {
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

// nodeTable has the verdicts on nodes, without plugins that are not applicable to the pod or ran on none.
func nodeTable(a *Attempt) report.Section {
	head := []string{"NODE"}
	var columns []int
	for _, column := range a.Heads() {
		ran := slices.ContainsFunc(a.Groups, func(g Group) bool { return a.Cell(g, column) != NotRun })
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

// mostCauses is how many of them a sentence has.
const mostCauses = 4

// causes says how many nodes are rejected, and why.
func causes(a *Attempt) string {
	var all []string
	rest := 0
	for i, group := range a.Causes() {
		if i < mostCauses {
			all = append(all, a.cause(group))
		} else {
			rest += group.Len()
		}
	}
	if rest > 0 {
		all = append(all, report.Plural(rest, "node")+" for other reasons")
	}
	nodes := fmt.Sprintf("none of the cluster's %d nodes can run it: ", a.Total)
	if a.Total == 1 {
		nodes = "the cluster's only node cannot run it: "
	}
	return nodes + strings.Join(all, "; ")
}

// perNode is how plugins begin a reason that may be that of several nodes. One that begins otherwise is shown as it is.
const perNode = "node(s) "

// cause is what the nodes of a group have in common, mostly in the scheduler's words.
func (a *Attempt) cause(group Group) string {
	nodes, do, are := report.Plural(group.Len(), "node"), "do", "are"
	if group.Len() == 1 {
		do, are = "does", "is"
	}
	if group.Lacking != "" {
		return fmt.Sprintf("%s %s not have enough free %s", nodes, do, group.Lacking)
	}
	if group.Column >= 0 && a.Columns[group.Column].Name == names.NodeUnschedulable {
		return fmt.Sprintf("%s %s cordoned", nodes, are)
	}
	if said, ok := strings.CutPrefix(group.Reason, perNode); ok {
		return nodes + " " + said
	}
	if CountsNodes(group.Reason) {
		return group.Reason
	}
	return nodes + ": " + group.Reason
}
