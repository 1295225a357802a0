package recorder

import (
	"container/list"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// record is an attempt as it is kept. What many attempts share is in the profile and
// comes in by copy. The recorder's lock guards it.
type record struct {
	Attempt
	profile  *profile
	verdicts verdicts

	makesRoom bool     // PostFilter is at work, or has named a node
	nominated string   // the node that it named
	victims   []string // of preemption, as namespace/name

	bytes   int           // that it takes, about
	inOrder *list.Element // nil: forgotten
}

func (r *record) pod() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// copy is the attempt as it is handed out. What it shares with the record does not
// change any more.
func (r *record) copy() Attempt {
	a, v := r.Attempt, r.verdicts.clone()
	a.Scheduler, a.Columns = r.profile.name, append([]Column{}, r.profile.columns...)
	a.PreFilter, a.PreScore, a.Reserve = v[preFilter], v[preScore], v[reserve]
	a.Permit, a.PreBind, a.Bind = v[permit], v[preBind], v[bind]
	a.ScoreColumns = r.scoring.heads()
	if r.nominated != "" { // else no room was made, whatever PostFilter answered
		a.Preemption = &Preemption{Node: r.nominated, Victims: append([]string{}, r.victims...)}
	}
	for _, v := range a.PreFilter {
		if column := r.profile.columnOf(v.Plugin); column >= 0 {
			a.Columns[column].Skipped = v.Verdict == Skipped
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

// set records the verdict of a plugin that was not asked before.
func (r *record) set(p point, verdict PluginVerdict) {
	list := r.verdicts[p]
	i := slices.IndexFunc(list, func(v PluginVerdict) bool { return v.Plugin == verdict.Plugin })
	if i >= 0 && list[i].Verdict == NotRun {
		list[i] = verdict
	}
}

const (
	// baseBytes is about what an attempt takes without its nodes.
	baseBytes = 4 << 10
	// groupBytes is about what a group takes without its nodes and its reason.
	groupBytes = 128
)

// bytesOf is about how much memory verdicts on nodes and their scores take.
func bytesOf(groups []Group, s *scoring) (bytes int) {
	for _, g := range groups {
		bytes += groupBytes + len(g.Reason) + 4*len(g.nodes.places)
	}
	if s == nil {
		return bytes
	}
	bytes += 4 * len(s.nodes.places)
	for _, column := range s.columns {
		bytes += 8*len(column.raw) + len(column.normalized)
	}
	return bytes
}
