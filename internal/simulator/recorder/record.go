package recorder

import (
	"container/list"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// record is an attempt as it is kept: what many attempts share is in the layout,
// and what is said of nodes is packed. The recorder's lock guards it.
type record struct {
	id     uint64
	number int
	pod    types.NamespacedName
	uid    types.UID
	layout *layout

	began         time.Time
	took          time.Duration
	result        Result
	node, message string

	preFilter  preFilter
	hint       *Hint
	postFilter *PluginVerdict
	makesRoom  bool     // PostFilter is at work, or has named a node
	nominated  string   // the node that it named
	victims    []string // of preemption; appended to only
	details    *details

	inOrder, inPacked *list.Element // nil: not in that list of the recorder
}

// layout is what all attempts in a profile have in common.
type layout struct {
	scheduler string
	preFilter []string
	columns   []Column
	column    map[string]int // by plugin, or by extenderKey
	weights   map[string]int64
}

// preFilter is what came of the PreFilter plugins: those in the masks, by their
// place in the layout, and at most one that failed.
type preFilter struct {
	ran             bool
	skipped, limits mask
	failed          int // -1: none
	verdict         Verdict
	reason          string
	goesOn          bool // the plugins after the failed one were asked too
}

// mask is a set of plugins by their places. Places past 63, which no scheduler
// has, are never in it.
type mask uint64

func (m mask) has(i int) bool      { return i < 64 && m&(1<<i) != 0 }
func (m mask) with(i int) mask     { return m | 1<<i }
func (p preFilter) rejected() bool { return p.ran && p.failed >= 0 }

// verdicts spells the masks out.
func (p preFilter) verdicts(names []string) []PluginVerdict {
	verdicts := make([]PluginVerdict, len(names))
	for i, name := range names {
		v := PluginVerdict{Plugin: name, Verdict: Passed, LimitsNodes: p.limits.has(i)}
		switch {
		case !p.ran:
			v.Verdict = NotRun
		case i == p.failed:
			v.Verdict, v.Reason = p.verdict, p.reason
		case p.skipped.has(i):
			v.Verdict = Skipped
		case p.rejected() && i > p.failed && !p.goesOn:
			v.Verdict = NotRun
		}
		verdicts[i] = v
	}
	return verdicts
}

func (r *record) attempt() Attempt {
	a := Attempt{
		ID: r.id, Number: r.number, Namespace: r.pod.Namespace, Name: r.pod.Name, UID: string(r.uid),
		Scheduler: r.layout.scheduler, Time: r.began, Duration: r.took, Result: r.result,
		Node: r.node, Message: r.message, PostFilter: r.postFilter, Preemption: r.preemption(), Hint: r.hint,
		PreFilter:    r.preFilter.verdicts(r.layout.preFilter),
		Columns:      append([]Column{}, r.layout.columns...),
		ScoreColumns: []ScoreColumn{},
		Dropped:      r.details == dropped,
		details:      r.details,
	}
	for i, name := range r.layout.preFilter {
		if column, ok := r.layout.column[name]; ok {
			a.Columns[column].Skipped = r.preFilter.skipped.has(i)
		}
	}
	r.details.summarise(&a)
	return a
}

// preemption is nil unless a node was nominated: then no room was made, whatever
// PostFilter answered.
func (r *record) preemption() *Preemption {
	if r.nominated == "" {
		return nil
	}
	return &Preemption{Node: r.nominated, Victims: append([]string{}, r.victims...)}
}
