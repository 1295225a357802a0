package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

func (v *verdicts) explain(d *Difference) {
	d.Cause = Unknown
	switch {
	case d.A.PreemptedBy != "" || d.B.PreemptedBy != "":
		v.explainVictim(d)
	case d.Kind == OnlyA:
		d.rejected("B", d.B, d.A.Node)
	case d.Kind == OnlyB:
		d.rejected("A", d.A, d.B.Node)
	case v.sameRoom(side.KeyOf(d.key())):
		d.Cause, d.Reason = Tie, "preemption evicts equal pods on either node"
	default:
		d.explainMoved(v.changesFor(d))
	}
}

// explainVictim is about a pod that preemption deleted on one side, or on both for
// other pods.
func (v *verdicts) explainVictim(d *Difference) {
	d.Cause = Preemption
	by, under := d.B.PreemptedBy, "B"
	if by == "" {
		by, under = d.A.PreemptedBy, "A"
	}
	d.Reason = fmt.Sprintf("under %s pod %s preempted it", under, by)
	if v.chance.Has(side.KeyOf(by)) || v.sameRoom(side.KeyOf(by)) {
		d.Cause = Tie
		d.Reason += ", by chance"
	}
}

// sameRoom reports whether pods were preempted for a pod on both sides, as many, of the same
// priorities: preemption has no reason to prefer either.
func (v *verdicts) sameRoom(pod types.NamespacedName) bool {
	a, b := v.a.Pod(pod).Outcome.Victims, v.b.Pod(pod).Outcome.Victims
	return len(a) > 0 && slices.Equal(a, b)
}

// rejected says why a side has no node for the pod: its verdict on the node that
// the other side chose.
func (d *Difference) rejected(under string, o side.Outcome, node string) {
	d.Reason = fmt.Sprintf("under %s: %s", under, cmp.Or(o.Message, "the scheduler did not try it"))
	on := verdictOn(node, o.Attempt)
	if on.rejected() {
		d.Cause = Verdict
		d.Plugin = on.plugin
		d.Reason = fmt.Sprintf("under %s %s is rejected: %s%s", under, node, on.Reason, o.Attempt.PodGroup.Note())
	}
}

func (d *Difference) explainMoved(changed changes) {
	onA, onB := verdictOn(d.B.Node, d.A.Attempt), verdictOn(d.A.Node, d.B.Attempt)
	switch {
	case onB.rejected() && (!onA.rejected() || changed.verdicts.Has(onB.plugin) || !changed.verdicts.Has(onA.plugin)):
		d.rejected("B", d.B, d.A.Node)
	case onA.rejected():
		d.rejected("A", d.A, d.B.Node)
	case d.explainScores(changed):
	case neededRoom(d.A.Attempt) || neededRoom(d.B.Attempt):
		d.Cause, d.Reason = Preemption, fmt.Sprintf("preemption evicts pods on %s under A, on %s under B", d.A.Node, d.B.Node)
	case onA.Verdict == recorder.NotRun:
		d.Cause, d.Reason = Order, fmt.Sprintf("under A %s was not evaluated: the scheduler had found enough feasible nodes", d.B.Node)
	case onB.Verdict == recorder.NotRun:
		d.Cause, d.Reason = Order, fmt.Sprintf("under B %s was not evaluated: the scheduler had found enough feasible nodes", d.A.Node)
	default:
		d.Reason = "only one side tried to schedule it"
	}
}

// neededRoom reports whether an earlier attempt preempted pods for this one.
func neededRoom(attempt *recorder.Attempt) bool {
	return attempt != nil && attempt.Number > 1 && attempt.Evaluated == 1 && attempt.Total > 1
}

// explainScores compares the scores of the two nodes, if both sides have both. It also takes
// note of the plugins that turned the choice.
func (d *Difference) explainScores(changed changes) bool {
	nodes := [2]string{d.A.Node, d.B.Node}
	a, b := scoresOf(d.A.Attempt, nodes), scoresOf(d.B.Attempt, nodes)
	d.turned = turned(a, b)
	if a == nil || b == nil {
		return false
	}
	if a[total][0] == a[total][1] && b[total][0] == b[total][1] {
		d.Cause, d.Reason = Tie, fmt.Sprintf("%s and %s have equal totals on both sides", nodes[0], nodes[1])
		return true
	}
	four := func(name string) string {
		return fmt.Sprintf("%d and %d under A, %d and %d under B", a[name][0], a[name][1], b[name][0], b[name][1])
	}
	d.Cause = Score
	d.Plugin = changed.first(d.turned)
	d.Reason = fmt.Sprintf("totals of %s and %s: %s", nodes[0], nodes[1], four(total))
	if d.Plugin != "" {
		d.Reason += "; by " + d.Plugin + ": " + four(d.Plugin)
	}
	return true
}

// total stands for all plugins where scores are by plugin.
const total = ""

// scoresOf are the scores of two nodes, weighted, by plugin. They are nil unless the
// attempt has scored both.
func scoresOf(attempt *recorder.Attempt, nodes [2]string) map[string][2]int64 {
	if attempt == nil {
		return nil
	}
	found := 0
	by := map[string][2]int64{}
	for _, row := range attempt.Scores() {
		i := slices.Index(nodes[:], row.Node)
		if i < 0 {
			continue
		}
		found++
		add := func(name string, score int64) {
			both := by[name]
			both[i] += score
			by[name] = both
		}
		add(total, row.Total)
		for column, cell := range row.Cells {
			add(attempt.ScoreColumns[column].Name, cell.Weighted)
		}
	}
	if found < 2 {
		return nil
	}
	return by
}

// turned are the plugins that preferred the first of two nodes under A more than under B,
// and by how much. A side that has not scored both prefers neither.
func turned(a, b map[string][2]int64) map[string]int64 {
	by := map[string]int64{}
	for name, scores := range a {
		by[name] += scores[0] - scores[1]
	}
	for name, scores := range b {
		by[name] -= scores[0] - scores[1]
	}
	delete(by, total)
	maps.DeleteFunc(by, func(_ string, much int64) bool { return much <= 0 })
	return by
}

// noNode says why a pod has no node, and which plugin rejected most nodes.
func noNode(o side.Outcome) (reason, plugin string) {
	if o.PreemptedBy != "" {
		return "pod " + o.PreemptedBy + " preempted it", ""
	}
	if o.Attempt != nil {
		most := 0
		for _, column := range o.Attempt.Columns {
			if column.Failed > most {
				most = column.Failed
				plugin = column.Name
			}
		}
	}
	return o.Message, plugin
}

// nodeVerdict is what an attempt says of a node, and the plugin that decided.
type nodeVerdict struct {
	recorder.Group
	plugin string
}

// verdictOn is empty if the attempt says nothing of the node.
func verdictOn(node string, attempt *recorder.Attempt) (v nodeVerdict) {
	if attempt == nil {
		return v
	}
	i := slices.IndexFunc(attempt.Groups, func(g recorder.Group) bool { return slices.Contains(g.Nodes(), node) })
	if i >= 0 {
		v.Group = attempt.Groups[i]
		if v.Column >= 0 && v.Column < len(attempt.Columns) {
			v.plugin = attempt.Columns[v.Column].Name
		}
	}
	return v
}

func (v nodeVerdict) rejected() bool {
	return v.Verdict == recorder.Rejected || v.Verdict == recorder.Errored || v.Verdict == recorder.Excluded
}
