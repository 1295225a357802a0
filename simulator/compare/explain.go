package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
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
func (d *Difference) explainElsewhere(changed changes) {
	onA, lookedA := rowOf(d.A.Attempt, d.B.Node)
	onB, lookedB := rowOf(d.B.Attempt, d.A.Node)
	refusedA, refusedB := lookedA && against(onA), lookedB && against(onB)
	byChange := func(attempt *recorder.Attempt, row recorder.Group) bool {
		return changed.verdicts.Has(pluginOf(attempt, row))
	}
	switch {
	case refusedB && (!refusedA || byChange(d.B.Attempt, onB) || !byChange(d.A.Attempt, onA)):
		d.rejected("B", d.B, d.A.Node)
	case refusedA:
		d.rejected("A", d.A, d.B.Node)
	case d.scored(changed):
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

// scored compares the scores of the two nodes, if both sides have both. If one has
// not, it takes down who was for the choice of the other.
func (d *Difference) scored(changed changes) bool {
	nodes := []string{d.A.Node, d.B.Node}
	a, b := scoresOf(d.A.Attempt, nodes), scoresOf(d.B.Attempt, nodes)
	d.turned = turned(a, b, nodes)
	if len(a) < 2 || len(b) < 2 {
		return false
	}
	marginA, marginB := a[nodes[0]].total-a[nodes[1]].total, b[nodes[0]].total-b[nodes[1]].total
	if marginA == 0 && marginB == 0 {
		d.Cause, d.Reason = Tie, fmt.Sprintf("%s and %s have equal totals on both sides", nodes[0], nodes[1])
		return true
	}
	d.Cause, d.Plugin = Score, changed.first(d.turned)
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

// scored is what a node got in an attempt.
type scored struct {
	total int64
	by    map[string]int64 // plugin, weighted
}

// scoresOf are those of some nodes.
func scoresOf(attempt *recorder.Attempt, nodes []string) map[string]*scored {
	if attempt == nil {
		return nil
	}
	found := map[string]*scored{}
	for _, row := range attempt.Scores() {
		if !slices.Contains(nodes, row.Node) {
			continue
		}
		one := &scored{total: row.Total, by: map[string]int64{}}
		for i, cell := range row.Cells {
			one.by[attempt.ScoreColumns[i].Name] += cell.Weighted
		}
		found[row.Node] = one
	}
	return found
}

// turned is who was more for the first of two nodes under A than under B, and by how
// much. A side that has not scored both is for neither.
func turned(a, b map[string]*scored, nodes []string) map[string]int64 {
	by := map[string]int64{}
	for sign, scores := range map[int64]map[string]*scored{1: a, -1: b} {
		if len(scores) == 2 {
			for name := range scores[nodes[0]].by {
				by[name] += sign * (scores[nodes[0]].by[name] - scores[nodes[1]].by[name])
			}
		}
	}
	maps.DeleteFunc(by, func(_ string, much int64) bool { return much <= 0 })
	return by
}

// alone says why a pod has no node, and which plugin was against the most of them.
func alone(o Outcome) (reason, plugin string) {
	if o.PushedOutBy != "" {
		return "pod " + o.PushedOutBy + " pushed it out", ""
	}
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
