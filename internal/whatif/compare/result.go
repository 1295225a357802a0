package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Result is the result of a comparison.
type Result struct {
	A       string `json:"a"`
	B       string `json:"b"`
	Verdict string `json:"verdict"` // the first sentence of the report, without an end
	Meaning string `json:"meaning"` // what the configuration does, and what is compared
	// Summary is what supports it, in about ten lines.
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
	Rejected    []snapshot.Notice `json:"rejected"`           // objects that the API server rejects, on both sides
	NotModelled []string          `json:"notModelled"`        // what neither side did as a real cluster does
	Skipped     []string          `json:"skipped,omitempty"`  // pods that are being deleted already
	Inferred    []string          `json:"inferred,omitempty"` // what the file lacks, and was made as its pods are
	Lacks       []report.Lack     `json:"lacks,omitempty"`    // as in a report's basis
	Remedy      string            `json:"remedy,omitempty"`
	Ignored     []string          `json:"ignored"` // pods whose regex neither side reads
	// Renamed is what a side ignores that reads a regex under other keys than the other side.
	Renamed []Renamed `json:"renamed,omitempty"`
	// Cluster is what was copied, as "a copy of prod"; empty if that is not known.
	Cluster string `json:"cluster,omitempty"`
	// Basis has what the fields above have, as results of other commands do.
	Basis report.Basis `json:"basis"`
}

// Counts are how many pods have which result.
type Counts struct {
	Pods     int `json:"pods"` // all of them
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
		Ignored:  sets.List(sets.New(a.Ignored...).Intersection(sets.New(b.Ignored...))),
		Renamed:  renamed(a, b),
		Skipped:  a.Skipped,
		Inferred: a.Inferred,
		Lacks:    lacksOf(a, b), Remedy: cmp.Or(a.Remedy, b.Remedy),
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
	c := &r.Counts
	c.Pods = c.Same + c.Moved + c.OnlyA + c.OnlyB + c.Pending + c.Ties + c.Unplaced
	r.Basis = basis([]*Result{r})
	r.Verdict = r.sentence("B")
	r.Meaning = r.meaning()
	r.Summary = r.summary()
	return r, nil
}

// Renamed are pods whose regex one side reads, and the other does not, which reads other annotations.
type Renamed struct {
	Config string   `json:"config"` // of that other side
	Reads  []string `json:"reads"`  // keys of annotations, without the keys of the other side
	Pods   []string `json:"pods"`
}

// String is a sentence, without an end.
func (r Renamed) String() string {
	return fmt.Sprintf("%s reads %s, and not the regex of %s: %s", r.Config, strings.Join(r.Reads, ", "), report.Plural(len(r.Pods), "pod"), report.Few(r.Pods))
}

// renamed is empty for a side that reads no regex at all, as of an unmodified kube-scheduler: then the sides are meant to differ in that.
func renamed(a, b *side.Result) (all []Renamed) {
	for _, of := range [][2]*side.Result{{a, b}, {b, a}} {
		one, other := of[0], of[1]
		read := sets.New(one.Read...)
		pods := slices.DeleteFunc(slices.Clone(other.Read), func(pod string) bool {
			return read.Has(pod) || one.Pod(side.KeyOf(pod)).State == engine.NotAsked
		})
		reads := sets.List(sets.New(one.Reads...).Delete(other.Reads...))
		if len(pods) > 0 && len(reads) > 0 { // else it has no keys in the place of the others
			all = append(all, Renamed{one.Name, reads, pods})
		}
	}
	return all
}

// lacksOf is what the input of A lacks, and further kinds of B.
func lacksOf(a, b *side.Result) []report.Lack {
	all := slices.Clone(a.Lacks)
	for _, lack := range b.Lacks {
		if !slices.ContainsFunc(all, func(of report.Lack) bool { return slices.Equal(of.Kinds, lack.Kinds) }) {
			all = append(all, lack)
		}
	}
	return all
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

// Change is what differs, without an end, and first what makes it unreliable.
func (r *Result) Change() string {
	c := r.Counts
	var all []string
	for _, one := range []struct {
		n           int
		what, would string
	}{
		{c.OnlyA, "pod", "would no longer have a node"},
		{c.OnlyB, "pending pod", "would get a node"},
		{c.Moved - c.Follows, "pod", "would have another node"},
		{c.Follows, "pod", "would have another node as a knock-on effect"},
		{c.Ties, "pod", "would have another node by chance alone"},
	} {
		if one.n > 0 {
			all = append(all, report.Plural(one.n, one.what)+" "+one.would)
		}
	}
	if c.OnlyA+c.OnlyB+c.Moved == 0 {
		nothing := "Nothing would change"
		if r.Pods == side.Pending {
			nothing += " for the " + report.Plural(r.Asked, "pending pod")
		}
		all = append([]string{nothing}, all...)
	}
	return r.unreliable() + strings.Join(all, ", ")
}

// unreliable says what makes the result so, or is empty.
func (r *Result) unreliable() string {
	if r.Counts.Unplaced == 0 {
		return ""
	}
	return "A leaves " + report.Plural(r.Counts.Unplaced, "running pod") + " pending, which makes this unreliable. "
}

const nothingMoves = "Applying a configuration moves no running pod. "

// meaning says what a configuration does to running pods, and what is compared.
func (r *Result) meaning() string {
	if r.Pods == side.All {
		return nothingMoves + "This compares where kube-scheduler would put all pods if they were rescheduled from scratch."
	}
	return nothingMoves + "This compares where kube-scheduler would put the pending pods."
}

// caveat is what an answer does not say, after its first sentence: it is easily read as a list of what will happen, or as about all pods.
func (r *Result) caveat() string {
	switch {
	case r.Pods == side.All:
		return " " + strings.TrimSpace(nothingMoves)
	case r.Counts.Pods > r.Asked:
		return " Running pods stay where they are: --pods all compares all pods."
	}
	return ""
}

// sentence is the answer, without an end, and says which side is which. Letter is what B is called.
func (r *Result) sentence(letter string) string {
	under := "the scheduler had the configuration"
	if r.Pods == side.All {
		under = "all pods were rescheduled from scratch under"
	}
	return r.Basis.Qualify(fmt.Sprintf("%s if %s %s (%s) in place of %s (A)", r.Change(), under, r.B, letter, r.A))
}
