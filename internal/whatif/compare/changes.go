package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// changes are the names of what is different in the two setups of a profile.
type changes struct {
	verdicts, scores sets.Set[string]
	preempts         []string          // of verdicts: what preempts pods
	settings         map[string]string // what of each is another, as far as that is short
}

// newChanges compares setups. Of two versions of Kubernetes, the extension points of a plugin are its code, and no configuration.
func newChanges(a, b map[string]side.Setup, versions bool) map[string]changes {
	same := func(a, b side.Settings) bool {
		return maps.Equal(a.Values, b.Values) && (versions || slices.Equal(a.Points, b.Points))
	}
	all := map[string]changes{}
	for profile := range sets.KeySet(a).Union(sets.KeySet(b)) {
		onA, onB := a[profile], b[profile]
		one := changes{verdicts: differing(onA.Verdicts, onB.Verdicts, same), scores: differing(onA.Scores, onB.Scores, same), settings: map[string]string{}}
		one.preempts = sets.List(one.verdicts.Intersection(sets.New(slices.Concat(onA.Preempts, onB.Preempts)...)))
		for name := range one.verdicts {
			one.settings[name] = setting(onA.Verdicts, onB.Verdicts, name)
		}
		for name := range one.scores {
			one.settings[name] = setting(onA.Scores, onB.Scores, name)
		}
		all[profile] = one
	}
	return all
}

// differing are the keys of what is not the same in both.
func differing[V any](a, b map[string]V, same func(a, b V) bool) sets.Set[string] {
	names := sets.KeySet(a).Union(sets.KeySet(b))
	maps.DeleteFunc(names, func(name string, _ sets.Empty) bool {
		onA, isA := a[name]
		onB, isB := b[name]
		return isA == isB && same(onA, onB)
	})
	return names
}

func equal(a, b string) bool { return a == b }

// tookPart says what of the changes took part in an attempt, and how, but for scores.
func (c changes) tookPart(attempt *recorder.Attempt) (name, how string) {
	for _, column := range attempt.Columns {
		if column.Failed > 0 && c.verdicts.Has(column.Name) {
			return column.Name, fmt.Sprintf("rejects %d of %d nodes", column.Failed, attempt.Total)
		}
	}
	for _, one := range slices.Concat(attempt.PreFilter, attempt.Reserve, attempt.Permit, attempt.PreBind, attempt.Bind) {
		if c.verdicts.Has(one.Plugin) && (one.LimitsNodes || decides.Has(one.Verdict)) {
			return one.Plugin, "takes part"
		}
	}
	notRun := func(g recorder.Group) bool { return g.Verdict == recorder.NotRun }
	switch {
	case attempt.Preemption != nil && len(c.preempts) > 0:
		return c.preempts[0], "preempts"
	case c.verdicts.Has(side.PercentageOfNodesToScore) && attempt.Hint == nil && slices.ContainsFunc(attempt.Groups, notRun):
		return side.PercentageOfNodesToScore, "is another"
	case c.verdicts.Has(side.Backoff) && attempt.Number > 1:
		return side.Backoff, "is another"
	case c.verdicts.Has(side.QueueSort):
		return side.QueueSort, "is another"
	}
	return "", ""
}

// decides are the verdicts by which a plugin changes the result of a pod.
var decides = sets.New(recorder.Rejected, recorder.Errored, recorder.Waits)

// first is the plugin that turned the choice most: one that has changed, or else any.
func (c changes) first(turned map[string]int64) (name string) {
	for _, one := range slices.Sorted(maps.Keys(turned)) {
		changed, best := c.scores.Has(one), c.scores.Has(name)
		if name == "" || changed && !best || changed == best && turned[one] > turned[name] {
			name = one
		}
	}
	return name
}

// setting says what of a plugin's settings is another, such as "scoringStrategy.type
// LeastAllocated → MostAllocated". Long values are omitted.
func setting(a, b map[string]side.Settings, name string) string {
	onA, isA := a[name]
	onB, isB := b[name]
	switch {
	case !isA:
		return "only under B"
	case !isB:
		return "only under A"
	}
	var all []string
	for _, path := range sets.List(differing(onA.Values, onB.Values, equal)) {
		values := " " + cmp.Or(onA.Values[path], "none") + " → " + cmp.Or(onB.Values[path], "none")
		if len(values) > 60 {
			values = ""
		}
		all = append(all, strings.TrimSpace(path+values))
	}
	return report.Few(all)
}
