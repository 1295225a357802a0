package recorder

import (
	"container/list"

	"k8s.io/apimachinery/pkg/types"
)

// record is an attempt as it is kept, without what copy makes of it. The recorder's
// lock guards it.
type record struct {
	Attempt
	profile *profile

	makesRoom bool     // PostFilter is at work, or has named a node
	nominated string   // the node that it named
	victims   []victim // of preemption

	inOrder *list.Element // nil: forgotten
}

func (r *record) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// end records what came of the attempt.
func (r *record) end(result Result, message string) {
	r.Result, r.Message = result, message
	for p := range points {
		list := r.at(p)
		*list = r.profile.recent[p].share(inAll(r.profile.plugins[p], *list))
	}
}

// copy is the attempt as it is handed out. What it shares with the record does not
// change any more.
func (r *record) copy() Attempt {
	a := r.Attempt
	for p := range points {
		if list := a.at(p); a.Result == Pending {
			*list = inAll(r.profile.plugins[p], *list)
		}
	}
	a.Columns = append([]Column{}, r.profile.columns...)
	for _, said := range a.PreFilter {
		if column, ok := r.profile.column[said.Plugin]; ok {
			a.Columns[column].Skipped = said.Verdict == Skipped
		}
	}
	a.count()
	a.ScoreColumns = a.scoring.heads()
	a.Preemption = r.preemption()
	return a
}

// count counts the nodes.
func (a *Attempt) count() {
	for _, g := range a.Groups {
		a.Total += g.Len()
		if g.Verdict != NotRun && g.Verdict != LeftOut {
			a.Evaluated += g.Len()
		}
		if g.Column >= 0 && g.Verdict != NotRun {
			a.Columns[g.Column].Failed += g.Len()
		}
	}
}
