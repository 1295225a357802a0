package recorder

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// words are what a person reads of a verdict, most severe first.
var words = []struct {
	verdict Verdict
	word    string
}{
	{Errored, "error"}, {Rejected, "rejected"}, {Waits, "wait"}, {Passed, "passed"}, {Skipped, "skipped"}, {NotRun, "not run"}, {Excluded, "excluded"},
}

// Word is what a person reads of a verdict on a pod.
func (v Verdict) Word() string {
	for _, one := range words {
		if one.verdict == v {
			return one.word
		}
	}
	return string(v)
}

// Verdicts are the plugins with the same verdict on a pod.
type Verdicts struct {
	Point   string // empty where a heading says it
	Verdict Verdict
	Plugins []PluginVerdict
}

// ByVerdict groups the plugins at an extension point by their verdict, failures first.
func ByVerdict(point string, plugins []PluginVerdict) (all []Verdicts) {
	for _, one := range words {
		same := slices.DeleteFunc(slices.Clone(plugins), func(v PluginVerdict) bool { return v.Verdict != one.verdict })
		if len(same) > 0 {
			all = append(all, Verdicts{point, one.verdict, same})
		}
	}
	return all
}

// Causes are the groups of nodes that a plugin or an extender has rejected, the largest first.
func (a *Attempt) Causes() []Group {
	all := slices.DeleteFunc(slices.Clone(a.Groups), func(g Group) bool { return g.Verdict == Passed || g.Verdict == NotRun })
	slices.SortStableFunc(all, func(a, b Group) int { return cmp.Compare(b.Len(), a.Len()) })
	return all
}

// Heads are the indices of Columns: the ones that rejected a node first, the skipped ones last.
func (a *Attempt) Heads() (heads []int) {
	rank := func(column int) int {
		switch c := a.Columns[column]; {
		case c.Failed > 0:
			return 0
		case c.Skipped:
			return 2
		}
		return 1
	}
	for i := range a.Columns {
		heads = append(heads, i)
	}
	slices.SortStableFunc(heads, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return heads
}

// RejectedItself is the PreFilter plugin that rejected the pod whatever the node, or nil. One that remembers what it says of each node
// rejects the pod there, too, and means the nodes.
func (a *Attempt) RejectedItself() *PluginVerdict {
	i := slices.IndexFunc(a.PreFilter, func(v PluginVerdict) bool { return v.Verdict == Rejected })
	causes := a.Causes()
	if i < 0 || len(causes) > 0 && (strings.HasPrefix(causes[0].Reason, perNode) || CountsNodes(causes[0].Reason)) {
		return nil
	}
	return &a.PreFilter[i]
}

var countsNodes = regexp.MustCompile(`^\d+ ` + regexp.QuoteMeta(perNode))

// CountsNodes says whether a reason for which a plugin rejects a pod begins with how many nodes it is of: it has those of all.
func CountsNodes(reason string) bool { return countsNodes.MatchString(reason) }
