package recorder

import (
	"container/list"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// record is an attempt as it is kept: what many attempts share is in the profile, or
// is one list for all of them. The recorder's lock guards it.
type record struct {
	id      uint64
	number  int
	pod     types.NamespacedName
	uid     types.UID
	profile *profile

	began         time.Time
	took          time.Duration
	result        Result
	node, message string

	said       *sayings // shared once there is a result
	hint       *Hint
	groups     []Group
	scoring    *scoring
	postFilter *PluginVerdict

	makesRoom bool     // PostFilter is at work, or has named a node
	nominated string   // the node that it named
	victims   []victim // of preemption

	inOrder *list.Element // nil: forgotten
}

// end records what came of the attempt.
func (r *record) end(result Result, message string) {
	r.result, r.message = result, message
	r.said = r.profile.recent.share(r.said.inAll(r.profile.plugins))
}

// copy is the attempt as it is handed out. What it shares with the record does not
// change any more.
func (r *record) copy() Attempt {
	said := r.said
	if r.result == Pending {
		said = said.inAll(r.profile.plugins)
	}
	a := Attempt{
		ID: r.id, Number: r.number, Namespace: r.pod.Namespace, Name: r.pod.Name, UID: string(r.uid),
		Scheduler: r.profile.name, Time: r.began, Duration: r.took, Result: r.result, Node: r.node, Message: r.message,
		PreFilter: said[preFilter], Hint: r.hint, Columns: append([]Column{}, r.profile.columns...), Groups: r.groups,
		PostFilter: r.postFilter, Preemption: r.preemption(),
		PreScore: said[preScore], ScoreColumns: r.scoring.heads(), scoring: r.scoring,
		Reserve: said[reserve], Permit: said[permit], PreBind: said[preBind], Bind: said[bind],
	}
	for _, said := range a.PreFilter {
		if column, ok := r.profile.column[said.Plugin]; ok {
			a.Columns[column].Skipped = said.Verdict == Skipped
		}
	}
	a.count()
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
