package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Result is the result of a comparison.
type Result struct {
	A string `json:"a"`
	B string `json:"b"`
	// Summary is the answer in about ten lines, which every format begins with.
	Summary []Line `json:"summary"`
	// Workloads are all there are: first workloads that lose pods, then workloads with direct differences.
	Workloads []*Workload `json:"workloads"`
	Groups    []Group     `json:"groups"` // of nodes, by zone
	// Pods says which pods were scheduled, Steps how many steps there were after.
	Pods  string `json:"pods"`
	Steps int    `json:"steps"`
	// Nodes is how many there are, Asked of how many pods the scheduler was asked
	// on either side.
	Nodes  int    `json:"nodes"`
	Asked  int    `json:"asked"`
	Seed   uint64 `json:"seed"`
	Counts Counts `json:"counts"`
	// Unplaced are pods that run in the file and have no node under A. That is a fault
	// of the copy and not of B: they are in no other list.
	Unplaced []Difference `json:"unplaced"`
	// Differences are pods that differ, and not by chance: first direct differences, then knock-on
	// effects, and among either, pods that lose their node first.
	Differences []Difference      `json:"differences"`
	Ties        []Difference      `json:"ties"`    // pods that chance alone moves
	Pending     []Difference      `json:"pending"` // pods without a node on either side
	Load        Loads             `json:"load"`
	Rejected    []snapshot.Notice `json:"rejected"`    // objects that the API server rejects, on both sides
	NotModelled []string          `json:"notModelled"` // what neither side did as a real cluster does
	Ignored     []string          `json:"ignored"`     // pods whose regex neither side reads
	// Cluster is what was copied, as "a copy of prod"; empty if that is not known.
	Cluster string `json:"cluster,omitempty"`
}

// Counts are how many pods have which result.
type Counts struct {
	Same     int `json:"same"`
	Moved    int `json:"moved"`
	OnlyA    int `json:"onlyA"` // they lose their node. What chance alone does is not counted
	OnlyB    int `json:"onlyB"`
	Pending  int `json:"pending"`
	Ties     int `json:"ties"`
	Unplaced int `json:"unplaced"`
	Follows  int `json:"follows"` // how many of Moved are knock-on effects
}

// newResult judges two sides.
func newResult(a, b *side.Result) (*Result, error) {
	for _, of := range []*side.Result{a, b} {
		if len(of.Unanswered) > 0 {
			return nil, fmt.Errorf("%s: %s", of.Name, strings.Join(of.Unanswered, "; "))
		}
	}
	v := judge(a, b)
	load := newLoads(nodeLoads(a, b))
	r := &Result{
		A: a.Name, B: b.Name, Pods: a.Mode, Steps: a.Steps, Seed: a.Seed,
		Workloads: v.workloads(), Groups: newGroups(load.Nodes), Nodes: len(load.Nodes), Load: load, Asked: max(asked(a), asked(b)),
		Ignored:     sets.List(sets.New(a.Ignored...).Intersection(sets.New(b.Ignored...))),
		NotModelled: sets.List(sets.New(a.NotModelled...).Insert(b.NotModelled...)), Rejected: append([]snapshot.Notice{}, a.Rejected...),
		Unplaced: append([]Difference{}, v.unplaced...), Differences: append([]Difference{}, v.differences...),
		Ties: append([]Difference{}, v.ties...), Pending: append([]Difference{}, v.pending...),
		Counts: Counts{Same: v.same, Pending: len(v.pending), Ties: len(v.ties), Unplaced: len(v.unplaced)},
	}
	if r.Asked == 0 {
		return nil, r.nothing()
	}
	if a.Kubernetes != b.Kubernetes {
		r.A += " (Kubernetes " + a.Kubernetes + ")"
		r.B += " (Kubernetes " + b.Kubernetes + ")"
	}
	for _, d := range r.Differences {
		r.Counts.add(d)
	}
	byKey := func(a, b Difference) int { return cmp.Compare(a.key(), b.key()) }
	slices.SortFunc(r.Unplaced, byKey)
	slices.SortFunc(r.Differences, func(a, b Difference) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), byKey(a, b)) })
	r.Summary = r.summary()
	return r, nil
}

func (c *Counts) add(d Difference) {
	switch d.Kind {
	case Moved:
		c.Moved++
		if d.Follows {
			c.Follows++
		}
	case OnlyA:
		c.OnlyA++
	case OnlyB:
		c.OnlyB++
	}
}

// nothing says why the scheduler tried no pod.
func (r *Result) nothing() error {
	err := fmt.Errorf("%w: the scheduler tried no pod", ErrNothing)
	pending := slices.Concat(r.Unplaced, r.Pending)
	if len(pending) > 0 {
		return fmt.Errorf("%w; pod %s: %s", err, pending[0].key(), pending[0].Reason)
	}
	if len(r.Rejected) > 0 {
		return fmt.Errorf("%w; %s", err, r.Rejected[0])
	}
	return err
}

// rank puts first what people look for, and last knock-on effects.
func (d *Difference) rank() int {
	i := slices.Index([]Kind{OnlyA, OnlyB, Moved, Pending}, d.Kind)
	if d.Follows {
		i += 10
	}
	return i
}

// asked is how many pods the scheduler was asked for.
func asked(r *side.Result) (pods int) {
	for _, pod := range r.Pods {
		if pod.Attempts > 0 {
			pods++
		}
	}
	return pods
}

// Verdict is the result in a line, and first what makes it unreliable.
func (r *Result) Verdict() string {
	unplaced := counted(count{len(r.Unplaced), "running pod is pending", "running pods are pending"})
	if len(unplaced) > 0 {
		return unplaced[0] + " under A; of the others: " + r.outcome()
	}
	return r.outcome()
}

// count is how many there are of something, with its words for one and for several.
type count struct {
	n         int
	one, many string
}

// counted are the counts that are not 0, in words.
func counted(all ...count) (parts []string) {
	for _, one := range all {
		if one.n == 1 {
			parts = append(parts, "1 "+one.one)
		} else if one.n > 1 {
			parts = append(parts, fmt.Sprint(one.n, " ", one.many))
		}
	}
	return parts
}

// Sentence is the result for a reader who does not know which side is which. Letter is what B is called.
func (r *Result) Sentence(letter string) string {
	c := r.Counts
	parts := counted(count{c.OnlyA, "pod would lose its node", "pods would lose their nodes"},
		count{c.OnlyB, "pending pod would get a node", "pending pods would get nodes"},
		count{c.Moved, "pod would have another node", "pods would have other nodes"})
	if len(parts) == 0 {
		parts = []string{"every pod would have the same node, or stay pending"}
	}
	parts = append(parts, counted(count{c.Ties, "pod would move by chance alone", "pods would move by chance alone"})...)
	unreliable := counted(count{len(r.Unplaced), "running pod without a node under A makes this unreliable. ", "running pods without a node under A make this unreliable. "})
	last := len(parts) - 1
	all := strings.TrimPrefix(strings.Join(parts[:last], ", ")+" and "+parts[last], " and ")
	return fmt.Sprintf("%sIf the scheduler had the configuration %s (%s) in place of %s (A), %s.", strings.Join(unreliable, ""), r.B, letter, r.A, all)
}

func (r *Result) outcome() string {
	c := r.Counts
	parts := counted(count{c.OnlyA, "pod loses its node", "pods lose their node"},
		count{c.OnlyB, "pod gains a node", "pods gain a node"},
		count{c.Moved - c.Follows, "pod moves", "pods move"})
	switch {
	case len(parts) > 0 && c.Follows > 0:
		return strings.Join(parts, ", ") + " under B, with " + report.Plural(c.Follows, "knock-on effect")
	case c.Follows > 0:
		return report.Plural(c.Follows, "knock-on effect") + " under B"
	case len(parts) > 0:
		return strings.Join(parts, ", ") + " under B"
	case c.Ties > 0:
		return "Nothing changes but " + report.Plural(c.Ties, "tie")
	}
	return "Nothing changes"
}
