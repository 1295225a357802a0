package compare

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Kind is in what a pod's outcomes differ.
type Kind string

const (
	Moved    Kind = "moved"    // it has a node on both sides, and not the same
	OnlyA    Kind = "onlyA"    // it has a node under A alone
	OnlyB    Kind = "onlyB"    // it has a node under B alone
	Pending  Kind = "pending"  // it has no node on either side
	Unplaced Kind = "unplaced" // it runs in the file and has no node under A
)

// Cause is what made the difference.
type Cause string

const (
	Verdict    Cause = "verdict"    // a plugin was for a node on one side and against it on the other
	Score      Cause = "score"      // a node got a better total on one side
	Preemption Cause = "preemption" // preemption on one side, or on other nodes
	Order      Cause = "order"      // a node was not looked at on one side, as enough others were found
	// Tie: chance alone. Both nodes were as good on both sides.
	Tie     Cause = "tie"
	Unknown Cause = "unknown" // neither verdicts nor scores tell
)

// Difference is a pod whose results differ, or that has no node on either side.
type Difference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Kind      Kind   `json:"kind"`
	Cause     Cause  `json:"cause,omitempty"`
	Plugin    string `json:"plugin,omitempty"` // the one that decided, where one did
	// Reason says why, in a line.
	Reason string `json:"reason"`
	// Follows: nothing took part in it that differs between the configurations, but
	// what other pods did before. Where it is false, the difference is direct.
	Follows bool `json:"follows,omitempty"`
	// By is what differs between the configurations and took part in it, and Setting what of
	// that is another.
	By      string       `json:"by,omitempty"`
	Setting string       `json:"setting,omitempty"`
	A       side.Outcome `json:"a"`
	B       side.Outcome `json:"b"`

	turned map[string]int64 // the plugins that turned the choice, and by how much of the total
}

// verdicts are the result of two sides: each pod is in one of the lists, or the same.
type verdicts struct {
	a, b        *side.Result
	same        int
	differences []Difference // that are not ties
	ties        []Difference
	pending     []Difference
	unplaced    []Difference

	changes map[string]changes             // by profile
	differ  int                            // how many pods differ so far
	chance  sets.Set[types.NamespacedName] // pods that do by chance alone
}

func newVerdicts(a, b *side.Result) *verdicts {
	return &verdicts{a: a, b: b, changes: newChanges(a.Setups, b.Setups, a.Kubernetes != b.Kubernetes), chance: sets.New[types.NamespacedName]()}
}

// judge compares the two sides, pod by pod, in the order in which A tried
// them, so that knock-on effects of a difference come after it.
func judge(a, b *side.Result) *verdicts {
	v := newVerdicts(a, b)
	for _, name := range v.order() {
		switch d := v.difference(name); {
		case v.isUnplaced(name):
			reason, plugin := noNode(d.A)
			v.unplaced = append(v.unplaced, Difference{
				Namespace: d.Namespace, Name: d.Name, Kind: Unplaced, Reason: reason, Plugin: plugin, A: d.A, B: d.B,
			})
		case d.Kind == "" && d.A.State != engine.Gone:
			v.same++
		case d.Kind == "":
		case d.Kind == Pending:
			v.pending = append(v.pending, d)
		case d.Cause == Tie:
			v.ties = append(v.ties, d)
		default:
			v.differences = append(v.differences, d)
		}
	}
	return v
}

// isUnplaced reports whether a pod runs in the file and has no node under A, unless the
// scenario has deleted it, or a pod that did not run preempted it.
func (v *verdicts) isUnplaced(name types.NamespacedName) bool {
	o := v.a.Pod(name).Outcome
	if v.a.Pod(name).Today == "" || o.Node != "" || o.State == engine.Gone {
		return false
	}
	return o.PreemptedBy == "" || v.a.Pod(side.KeyOf(o.PreemptedBy)).Today != ""
}

// order is the order of the last attempts, under A or else under B. Preempted pods come after
// the pod that preempted them, and pods that were not tried come last, by name.
func (v *verdicts) order() []types.NamespacedName {
	all := v.a.Names().Union(v.b.Names())
	place := func(name types.NamespacedName) uint64 {
		for _, result := range []*side.Result{v.a, v.b} {
			o := result.Pod(name).Outcome
			if o.Since > 0 {
				return 2*o.Since + 1
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

// difference compares the outcomes of a pod. Its kind is empty if they are the same.
func (v *verdicts) difference(name types.NamespacedName) Difference {
	a, b := v.a.Pod(name).Outcome, v.b.Pod(name).Outcome
	d := Difference{Namespace: name.Namespace, Name: name.Name, A: a, B: b}
	switch {
	case a.State == engine.Gone && b.State == engine.Gone:
		return d
	case a.Node == "" && b.Node == "":
		d.Kind = Pending
		d.Reason, d.Plugin = noNode(a)
		return d
	case a.Node == b.Node:
		return d
	case b.Node == "":
		d.Kind = OnlyA
	case a.Node == "":
		d.Kind = OnlyB
	default:
		d.Kind = Moved
	}
	v.explain(&d)
	if d.Cause != Tie {
		v.trace(&d) // which may find that it is one
	}
	v.differ++
	if d.Cause == Tie {
		v.chance.Insert(name)
	}
	return d
}

// trace tells a direct difference from a knock-on effect.
func (v *verdicts) trace(d *Difference) {
	by, how := v.tookPart(d)
	if by != "" {
		d.By = by
		d.Setting = v.changesFor(d).settings[by]
		if how != "" {
			d.Reason += "; " + how
		}
		return
	}
	if v.differ == 0 && v.a.Kubernetes != v.b.Kubernetes {
		d.By = cmp.Or(d.Plugin, string(d.Cause))
		d.Setting = "Kubernetes version"
		d.Reason += "; the two sides have different Kubernetes versions"
		return
	}
	d.Follows = true
	if v.differ > 0 && v.chance.Len() == v.differ {
		d.Cause, d.Reason = Tie, "pods that were scheduled before it differ by chance"
	}
}

// tookPart is what differs between the configurations and took part in a difference.
// Unless it is the plugin that decided, a few words say how.
func (v *verdicts) tookPart(d *Difference) (by, how string) {
	changed := v.changesFor(d)
	first := changed.first(d.turned)
	switch {
	case d.Cause == Verdict && changed.verdicts.Has(d.Plugin), d.Cause == Score && changed.scores.Has(d.Plugin):
		return d.Plugin, ""
	case changed.scores.Has(first):
		return first, first + " scores the two nodes differently"
	}
	pods := []string{d.key(), d.A.PreemptedBy, d.B.PreemptedBy}
	for i, result := range []*side.Result{v.a, v.b} {
		for _, pod := range pods {
			for _, attempt := range decisive(result, side.KeyOf(pod)) {
				by, how := v.changes[attempt.Scheduler].tookPart(attempt)
				if by != "" {
					return by, "under " + "AB"[i:i+1] + " " + by + " " + how
				}
			}
		}
	}
	if (d.A.State == engine.NotAsked) != (d.B.State == engine.NotAsked) {
		return "profiles", "only one side has a profile for it"
	}
	return "", ""
}

func (v *verdicts) changesFor(d *Difference) changes {
	for _, o := range []side.Outcome{d.A, d.B} {
		if o.Attempt != nil {
			return v.changes[o.Attempt.Scheduler]
		}
	}
	return changes{}
}

func (d *Difference) key() string { return d.Namespace + "/" + d.Name }

// decisive are the attempts by which a pod has its node, or none. If it got the next node of the
// list that was made for another pod, the attempt of that pod is one.
func decisive(r *side.Result, pod types.NamespacedName) (all []*recorder.Attempt) {
	o := r.Pod(pod).Outcome
	for _, attempt := range []*recorder.Attempt{o.Attempt, o.MadeRoom} {
		if attempt == nil {
			continue
		}
		all = append(all, attempt)
		if attempt.Hint == nil {
			continue
		}
		listed := r.Pod(side.KeyOf(attempt.Hint.Pod)).Attempt
		if listed != nil {
			all = append(all, listed)
		}
	}
	return all
}
