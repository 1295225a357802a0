package compare

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	pluginnames "k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
)

// Kind is in what a pod's outcomes differ.
type Kind string

const (
	// Elsewhere: it has a node on both sides, and not the same.
	Elsewhere Kind = "elsewhere"
	// OnlyA: it has a node under A alone.
	OnlyA Kind = "onlyA"
	// OnlyB: it has a node under B alone.
	OnlyB Kind = "onlyB"
	// Nowhere: it has no node on either side.
	Nowhere Kind = "nowhere"
	// Unplaced: it runs in the file and has no node under A.
	Unplaced Kind = "unplaced"
)

// Cause is what made the difference.
type Cause string

const (
	// Verdict: a plugin was for a node on one side and against it on the other.
	Verdict Cause = "verdict"
	// Score: a node got a better total on one side.
	Score Cause = "score"
	// Preemption: room was made on one side, or elsewhere.
	Preemption Cause = "preemption"
	// Order: a node was not looked at on one side, as enough others were found.
	Order Cause = "order"
	// Tie: chance alone. Both nodes were as good on both sides.
	Tie Cause = "tie"
	// Unknown: neither verdicts nor scores tell.
	Unknown Cause = "unknown"
)

// Difference is a pod that came out differently, or has no node on either side.
type Difference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Kind      Kind   `json:"kind"`
	Cause     Cause  `json:"cause,omitempty"`
	// Plugin is the one that decided, where one did.
	Plugin string `json:"plugin,omitempty"`
	// Reason says why, in a line.
	Reason string `json:"reason"`
	// Follows: nothing took part in it that differs between the configurations, but
	// what other pods did before. Where it is false, the difference is direct.
	Follows bool `json:"follows,omitempty"`
	// Runs is in how many runs the pod came out like this.
	Runs int     `json:"runs"`
	A    Outcome `json:"a"`
	B    Outcome `json:"b"`

	turned map[string]int64 // who turned the choice, and by how much of the total
}

// verdicts are what came of a run.
type verdicts struct {
	a, b        *sideResult
	same        int
	differences []Difference // that are not ties
	ties        []Difference
	nowhere     []Difference
	unplaced    []Difference // and in none of the lists above
}

// judge compares the two sides, pod by pod, in the order in which A looked at
// them, so that what follows from a difference comes after it.
func judge(p *plan, a, b *sideResult) *verdicts {
	j := &judging{
		a: a, b: b, changes: newChanges(a.setups, b.setups),
		differ: sets.New[types.NamespacedName](), chance: sets.New[types.NamespacedName](),
	}
	v := &verdicts{a: a, b: b}
	for _, name := range j.order(p) {
		d, differs := j.one(name, a.outcome(name), b.outcome(name))
		switch {
		case j.unplaced(p, name):
			d.Kind, d.Cause, d.Follows = Unplaced, "", false
			d.Reason, d.Plugin = alone(d.A)
			v.unplaced = append(v.unplaced, d)
		case !differs && d.A.State != Gone:
			v.same++
		case !differs:
		case d.Kind == Nowhere:
			v.nowhere = append(v.nowhere, d)
		case d.Cause == Tie:
			v.ties = append(v.ties, d)
		default:
			v.differences = append(v.differences, d)
		}
	}
	return v
}

type judging struct {
	a, b    *sideResult
	changes map[string]changes             // by profile
	differ  sets.Set[types.NamespacedName] // those that came out otherwise so far
	chance  sets.Set[types.NamespacedName] // and by chance alone
}

// unplaced is true of a pod that runs in the file and has no node under A, unless the
// scenario has deleted it, or it had to make room for one that did not run.
func (j *judging) unplaced(p *plan, name types.NamespacedName) bool {
	o := j.a.outcome(name)
	if p.ran[name] == nil || o.Node != "" || o.State == Gone {
		return false
	}
	return o.PushedOutBy == "" || p.ran[keyOf(o.PushedOutBy)] != nil
}

// order is that of the last attempts, under A or else under B, with those that were
// pushed out after who did it; pods that nobody looked at come last, by name.
func (j *judging) order(p *plan) []types.NamespacedName {
	all := sets.KeySet(j.a.outcomes).Union(sets.KeySet(j.b.outcomes)).Union(sets.KeySet(p.given()))
	place := func(name types.NamespacedName) uint64 {
		for _, side := range []*sideResult{j.a, j.b} {
			o := side.outcome(name)
			if o.since > 0 {
				return 2*o.since + 1
			}
			if o.Attempt != nil {
				return 2 * o.Attempt.ID
			}
		}
		return 1 << 63
	}
	return slices.SortedFunc(slices.Values(all.UnsortedList()), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.String(), b.String()))
	})
}

// one compares the outcomes of a pod.
func (j *judging) one(name types.NamespacedName, a, b Outcome) (d Difference, differs bool) {
	d = Difference{Namespace: name.Namespace, Name: name.Name, A: a, B: b, Runs: 1}
	switch {
	case a.State == Gone && b.State == Gone:
		return d, false
	case a.Node == "" && b.Node == "":
		d.Kind = Nowhere
		d.Reason, d.Plugin = alone(a)
		return d, true
	case a.Node == b.Node:
		return d, false
	case b.Node == "":
		d.Kind = OnlyA
	case a.Node == "":
		d.Kind = OnlyB
	default:
		d.Kind = Elsewhere
	}
	if j.explain(&d); d.Cause != Tie {
		j.trace(&d)
	}
	if j.differ.Insert(name); d.Cause == Tie {
		j.chance.Insert(name)
	}
	return d, true
}

// trace tells a difference that the configurations differ about from one that
// follows from other pods.
func (j *judging) trace(d *Difference) {
	if part := j.part(d); part != "" {
		if part != d.Plugin {
			d.Reason += "; " + part
		}
		return
	}
	d.Follows = true
	if before := j.before(d); len(before) > 0 && j.chance.IsSuperset(before) {
		d.Cause, d.Reason = Tie, "other pods before it differ by chance"
	}
}

// part is what differs between the configurations and took part in a difference. It
// is the plugin that decided, if that is one, or else a few words.
func (j *judging) part(d *Difference) string {
	changed := j.changesFor(d)
	turner := changed.first(d.turned)
	switch {
	case d.Cause == Verdict && changed.verdicts.Has(d.Plugin), d.Cause == Score && changed.scores.Has(d.Plugin):
		return d.Plugin
	case changed.scores.Has(turner):
		return turner + " scores the two nodes otherwise"
	}
	by := []string{d.key(), d.A.PushedOutBy, d.B.PushedOutBy}
	for i, side := range []*sideResult{j.a, j.b} {
		for _, pod := range by {
			for _, attempt := range side.decisive(keyOf(pod)) {
				if part := j.changes[attempt.Scheduler].part(attempt); part != "" {
					return "under " + "AB"[i:i+1] + " " + part
				}
			}
		}
	}
	if (d.A.State == NotAsked) != (d.B.State == NotAsked) {
		return "one of the two has no profile for it"
	}
	return ""
}

// changesFor are the changes of the profile of a pod.
func (j *judging) changesFor(d *Difference) changes {
	for _, o := range []Outcome{d.A, d.B} {
		if o.Attempt != nil {
			return j.changes[o.Attempt.Scheduler]
		}
	}
	return changes{}
}

// ofTheNode are plugins that look at the pods of a node alone.
var ofTheNode = sets.New(pluginnames.NodeResourcesFit, pluginnames.NodeResourcesBalancedAllocation, pluginnames.NodePorts)

// before are the pods that came out otherwise before this one, where the scheduler
// would see it: on the two nodes, if only what is there has decided. Anything else
// may count over zones, or hang on how many nodes were found.
func (j *judging) before(d *Difference) sets.Set[types.NamespacedName] {
	onNodes := d.Cause == Verdict && ofTheNode.Has(d.Plugin) || d.Cause == Score && ofTheNode.IsSuperset(sets.KeySet(d.turned))
	if !onNodes {
		return j.differ
	}
	differ := sets.New[types.NamespacedName]()
	for _, node := range []string{d.A.Node, d.B.Node} {
		if node != "" {
			onA, onB := j.a.placedBefore(node, d.A.Attempt), j.b.placedBefore(node, d.B.Attempt)
			differ = differ.Union(onA.Difference(onB)).Union(onB.Difference(onA))
		}
	}
	return differ
}

func (r *sideResult) placedBefore(node string, attempt *recorder.Attempt) sets.Set[types.NamespacedName] {
	pods := sets.New[types.NamespacedName]()
	for _, one := range r.placed[node] {
		if attempt != nil && one.attempt < attempt.ID {
			pods.Insert(one.pod)
		}
	}
	return pods
}

// explain says why a pod came out differently.
func (j *judging) explain(d *Difference) {
	d.Cause = Unknown
	switch {
	case d.A.PushedOutBy != "" || d.B.PushedOutBy != "":
		j.explainVictim(d)
	case d.Kind == OnlyA:
		d.rejected("B", d.B, d.A.Node)
	case d.Kind == OnlyB:
		d.rejected("A", d.A, d.B.Node)
	case j.sameRoom(keyOf(d.key())):
		d.Cause, d.Reason = Tie, "preemption made as much room on either node"
	default:
		d.explainElsewhere(j.changesFor(d))
	}
}

// explainVictim is about a pod that preemption deleted on one side, or on both for
// other pods.
func (j *judging) explainVictim(d *Difference) {
	d.Cause = Preemption
	by, side := d.B.PushedOutBy, "B"
	if by == "" {
		by, side = d.A.PushedOutBy, "A"
	}
	d.Reason = fmt.Sprintf("under %s pod %s pushed it out", side, by)
	if j.chance.Has(keyOf(by)) || j.sameRoom(keyOf(by)) {
		d.Cause, d.Reason = Tie, d.Reason+", by chance"
	}
}

// sameRoom is true if room was made for a pod on both sides, and preemption has no
// reason to prefer those that it pushed out on either: as many, of the same
// priorities.
func (j *judging) sameRoom(pod types.NamespacedName) bool {
	a, b := j.a.victims[pod], j.b.victims[pod]
	return len(a) > 0 && slices.Equal(a, b)
}

func (d *Difference) key() string { return d.Namespace + "/" + d.Name }
