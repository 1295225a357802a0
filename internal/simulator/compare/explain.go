package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/recorder"
)

// rejected says why a side has no node for the pod: what it has against the one
// that the other side chose.
func (d *Difference) rejected(side string, o Outcome, node string) {
	d.Reason = fmt.Sprintf("under %s: %s", side, cmp.Or(o.Message, "the scheduler was not asked"))
	if row, ok := rowOf(o.Attempt, node); ok && against(row) {
		d.Cause, d.Plugin = Verdict, pluginOf(o.Attempt, row)
		d.Reason = fmt.Sprintf("under %s %s is refused: %s", side, node, row.Reason)
	}
}

// explainElsewhere is about a pod that has a node on both sides.
func (d *Difference) explainElsewhere() {
	onA, lookedA := rowOf(d.A.Attempt, d.B.Node)
	onB, lookedB := rowOf(d.B.Attempt, d.A.Node)
	switch {
	case lookedB && against(onB):
		d.rejected("B", d.B, d.A.Node)
	case lookedA && against(onA):
		d.rejected("A", d.A, d.B.Node)
	case d.scored():
	case made(d.A.Attempt) || made(d.B.Attempt):
		d.Cause, d.Reason = Preemption, fmt.Sprintf("preemption made room on %s under A, on %s under B", d.A.Node, d.B.Node)
	case lookedA && onA.Verdict == recorder.NotRun:
		d.Cause, d.Reason = Order, fmt.Sprintf("under A %s was not looked at: enough other nodes were found", d.B.Node)
	case lookedB && onB.Verdict == recorder.NotRun:
		d.Cause, d.Reason = Order, fmt.Sprintf("under B %s was not looked at: enough other nodes were found", d.A.Node)
	default:
		d.Reason = "the scheduler was asked on one side only"
	}
}

// made is true of an attempt that needed an earlier one to make room.
func made(attempt *recorder.Attempt) bool {
	return attempt != nil && attempt.Number > 1 && attempt.Evaluated == 1 && attempt.Total > 1
}

// scored compares the scores of the two nodes, if both sides have both.
func (d *Difference) scored() bool {
	a, b := scoresOf(d.A.Attempt), scoresOf(d.B.Attempt)
	nodes := []string{d.A.Node, d.B.Node}
	for _, node := range nodes {
		if a[node] == nil || b[node] == nil {
			return false
		}
	}
	marginA, marginB := a[nodes[0]].total-a[nodes[1]].total, b[nodes[0]].total-b[nodes[1]].total
	if marginA == 0 && marginB == 0 {
		d.Cause, d.Reason = Tie, fmt.Sprintf("%s and %s have equal totals on both sides", nodes[0], nodes[1])
		return true
	}
	d.Cause, d.Plugin = Score, turning(a, b, nodes)
	total := func(node *scored) int64 { return node.total }
	d.Reason = fmt.Sprintf("totals of %s and %s: %s", nodes[0], nodes[1], compared(a, b, nodes, total))
	if d.Plugin != "" {
		d.Reason += "; by " + d.Plugin + ": " + compared(a, b, nodes, func(node *scored) int64 { return node.by[d.Plugin] })
	}
	return true
}

// compared is what two nodes got.
func compared(a, b map[string]*scored, nodes []string, of func(*scored) int64) string {
	return fmt.Sprintf("%d and %d under A, %d and %d under B", of(a[nodes[0]]), of(a[nodes[1]]), of(b[nodes[0]]), of(b[nodes[1]]))
}

// onlyHere is true of a plugin that is on one side only, or counts otherwise there:
// what it decides is the doing of the configuration, whatever else differs.
func (d *Difference) onlyHere(plugin string) bool {
	if plugin == "" || d.A.Attempt == nil || d.B.Attempt == nil {
		return false
	}
	filtersA, scoresA := has(d.A.Attempt, plugin)
	filtersB, scoresB := has(d.B.Attempt, plugin)
	if d.Cause == Score {
		return scoresA != scoresB
	}
	return filtersA != filtersB
}

// has says whether a plugin filters, and with which weight it scores.
func has(attempt *recorder.Attempt, plugin string) (filters bool, weight int64) {
	for _, column := range attempt.Columns {
		filters = filters || column.Name == plugin
	}
	for _, column := range attempt.ScoreColumns {
		if column.Name == plugin {
			weight = column.Weight
		}
	}
	return filters, weight
}

// scored is what a node got in an attempt.
type scored struct {
	total int64
	by    map[string]int64 // plugin, weighted
}

func scoresOf(attempt *recorder.Attempt) map[string]*scored {
	if attempt == nil {
		return nil
	}
	nodes := map[string]*scored{}
	for _, row := range attempt.Scores() {
		one := &scored{total: row.Total, by: map[string]int64{}}
		for i, cell := range row.Cells {
			one.by[attempt.ScoreColumns[i].Name] += cell.Weighted
		}
		nodes[row.Node] = one
	}
	return nodes
}

// turning is the plugin that turned most from the first node to the second between
// A and B.
func turning(a, b map[string]*scored, nodes []string) (plugin string) {
	most := int64(0)
	for _, names := range []map[string]int64{a[nodes[0]].by, b[nodes[0]].by} {
		for name := range names {
			turned := a[nodes[0]].by[name] - a[nodes[1]].by[name] - (b[nodes[0]].by[name] - b[nodes[1]].by[name])
			if turned > most || turned == most && turned > 0 && name < plugin {
				most, plugin = turned, name
			}
		}
	}
	return plugin
}

// alone says why a pod has no node, and which plugin was against the most of them.
func alone(o Outcome) (reason, plugin string) {
	if o.Attempt != nil {
		most := 0
		for _, column := range o.Attempt.Columns {
			if column.Failed > most {
				most, plugin = column.Failed, column.Name
			}
		}
	}
	return o.Message, plugin
}

// rowOf is what an attempt has of a node.
func rowOf(attempt *recorder.Attempt, node string) (recorder.Group, bool) {
	if attempt != nil {
		for _, group := range attempt.Groups {
			if slices.Contains(group.Nodes(), node) {
				return group, true
			}
		}
	}
	return recorder.Group{}, false
}

func against(row recorder.Group) bool {
	return row.Verdict == recorder.Rejected || row.Verdict == recorder.Errored || row.Verdict == recorder.LeftOut
}

func pluginOf(attempt *recorder.Attempt, row recorder.Group) string {
	if row.Column >= 0 && row.Column < len(attempt.Columns) {
		return attempt.Columns[row.Column].Name
	}
	return ""
}

func keyOf(name string) types.NamespacedName {
	namespace, pod, _ := strings.Cut(name, "/")
	return types.NamespacedName{Namespace: namespace, Name: pod}
}
