package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/words"
)

// Result is that of a comparison. All but Runs is of the first run, and
// Unplaced and Differences are of all of them.
type Result struct {
	A string `json:"a"`
	B string `json:"b"`
	// Summary is the answer in about ten lines, which every format begins with.
	Summary []Line `json:"summary"`
	// Workloads are all there are: first those that lose pods, then those with direct differences.
	Workloads []*Workload `json:"workloads"`
	Groups    []Group     `json:"groups"` // of nodes, by zone
	// Pods says which pods were scheduled, Steps how many steps there were after.
	Pods  string `json:"pods"`
	Steps int    `json:"steps"`
	// Nodes is how many there are, Asked of how many pods the scheduler was asked
	// on either side.
	Nodes int     `json:"nodes"`
	Asked int     `json:"asked"`
	Runs  []Tally `json:"runs"`
	// Unplaced are pods that run in the file and have no node under A. That is a fault
	// of the copy and none of B: they are in no other list.
	Unplaced []Difference `json:"unplaced"`
	// Differences are pods that came out differently, and not by chance: first those
	// that the configurations differ about, then knock-on effects; and among
	// either, those that lost their node first.
	Differences []Difference      `json:"differences"`
	Ties        []Difference      `json:"ties"`    // pods that chance alone moves
	Pending     []Difference      `json:"pending"` // pods without a node on either side
	Load        Loads             `json:"load"`
	TimesA      Times             `json:"timesA"`
	TimesB      Times             `json:"timesB"`
	Rejected    []snapshot.Notice `json:"rejected"`        // objects that the API server rejects, on both sides
	NotModelled []string          `json:"notModelled"`     // what neither side did as a real cluster does
	Took        time.Duration     `json:"tookNanoseconds"` // how long the comparison took
	// Cluster is what was copied, as "a copy of prod"; empty if that is not known.
	Cluster string `json:"cluster,omitempty"`
}

// Tally is a run in numbers.
type Tally struct {
	Seed     uint64 `json:"seed"`
	Same     int    `json:"same"`
	Moved    int    `json:"moved"`
	OnlyA    int    `json:"onlyA"`
	OnlyB    int    `json:"onlyB"`
	Pending  int    `json:"pending"`
	Ties     int    `json:"ties"`
	Unplaced int    `json:"unplaced"`
	Follows  int    `json:"follows"` // how many of Moved are knock-on effects
	// CPUDeviation is the standard deviation of the nodes' load, in percent.
	CPUDeviationA float64 `json:"cpuDeviationA"`
	CPUDeviationB float64 `json:"cpuDeviationB"`
}

func newResult(o *Options, b string) *Result {
	of := ""
	if o.Cluster != nil && o.Cluster.Source != nil {
		of = o.Cluster.Source.String()
	}
	return &Result{
		Cluster: of, A: o.A.Name, B: b, Pods: o.Pods, Steps: len(o.Scenario.Steps), Rejected: []snapshot.Notice{}, NotModelled: []string{},
		Unplaced: []Difference{}, Differences: []Difference{}, Ties: []Difference{}, Pending: []Difference{},
	}
}

// Lost is how many pods have a node under A and none under B, in the run in which
// they are the most. What chance alone does is not counted.
func (r *Result) Lost() int {
	lost := 0
	for _, run := range r.Runs {
		lost = max(lost, run.OnlyA)
	}
	return lost
}

func (r *Result) add(seed uint64, v *verdicts) {
	load := newLoads(nodeLoads(v.a, v.b))
	run := Tally{
		Seed: seed, Same: v.same, Pending: len(v.pending), Ties: len(v.ties), Unplaced: len(v.unplaced),
		CPUDeviationA: load.A.CPU.StandardDeviation, CPUDeviationB: load.B.CPU.StandardDeviation,
	}
	kinds := map[Kind]int{}
	for _, d := range v.differences {
		if kinds[d.Kind]++; d.Follows && d.Kind == Moved {
			run.Follows++
		}
	}
	run.Moved, run.OnlyA, run.OnlyB = kinds[Moved], kinds[OnlyA], kinds[OnlyB]
	if len(r.Runs) == 0 {
		r.Rejected = append(r.Rejected, v.a.Rejected...)
		r.NotModelled = sets.List(sets.New(v.a.NotModelled...).Insert(v.b.NotModelled...))
		r.Load, r.TimesA, r.TimesB = load, newTimes(v.a), newTimes(v.b)
		r.Nodes, r.Asked = len(load.Nodes), max(r.TimesA.Pods, r.TimesB.Pods)
		r.Ties, r.Pending = append(r.Ties, v.ties...), append(r.Pending, v.pending...)
		r.Workloads = v.workloads()
		r.Groups = newGroups(load.Nodes)
	}
	r.Runs = append(r.Runs, run)
	r.Differences = addTo(r.Differences, v.differences)
	r.Unplaced = addTo(r.Unplaced, v.unplaced)
}

// addTo adds the differences of a run to those of the runs before, each once.
func addTo(all, more []Difference) []Difference {
	id := func(d Difference) string { return string(d.Kind) + " " + d.key() }
	at := map[string]int{}
	for i, d := range all {
		at[id(d)] = i
	}
	for _, d := range more {
		if i, ok := at[id(d)]; ok {
			all[i].Runs++
		} else {
			all = append(all, d)
		}
	}
	return all
}

// nothing says why the scheduler tried no pod.
func (r *Result) nothing() error {
	err := fmt.Errorf("%w: the scheduler tried no pod", ErrNothing)
	if waiting := slices.Concat(r.Unplaced, r.Pending); len(waiting) > 0 {
		return fmt.Errorf("%w; pod %s: %s", err, waiting[0].key(), waiting[0].Reason)
	}
	if len(r.Rejected) > 0 {
		return fmt.Errorf("%w; %s", err, r.Rejected[0])
	}
	return err
}

// rank puts first what people look for, and last what follows from other pods.
func (d *Difference) rank() int {
	i := slices.Index([]Kind{OnlyA, OnlyB, Moved, Pending}, d.Kind)
	if d.Follows {
		i += 10
	}
	return i
}

// finish sorts, and sums up.
func (r *Result) finish() {
	byKey := func(a, b Difference) int { return cmp.Compare(a.key(), b.key()) }
	slices.SortFunc(r.Unplaced, byKey)
	slices.SortFunc(r.Differences, func(a, b Difference) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), byKey(a, b)) })
	r.Summary = r.summary()
}

// Times are how long the scheduler took to find nodes, all attempts for a pod
// together.
type Times struct {
	Pods     int           `json:"pods"`
	Attempts int           `json:"attempts"`
	P50      time.Duration `json:"p50Nanoseconds"`
	P99      time.Duration `json:"p99Nanoseconds"`
}

func newTimes(r *side.Result) (t Times) {
	var took []time.Duration
	for _, o := range r.Pods {
		if o.Attempts > 0 {
			took, t.Attempts = append(took, o.Took), t.Attempts+o.Attempts
		}
	}
	if t.Pods = len(took); t.Pods > 0 {
		slices.Sort(took)
		t.P50, t.P99 = took[(t.Pods-1)*50/100], took[(t.Pods-1)*99/100]
	}
	return t
}

// Verdict is the result in a line, and first what makes it unreliable.
func (r *Result) Verdict() string {
	switch n := len(r.Unplaced); n {
	case 0:
		return r.outcome()
	case 1:
		return "1 running pod is pending under A; of the others: " + r.outcome()
	default:
		return fmt.Sprintf("%d running pods are pending under A; of the others: %s", n, r.outcome())
	}
}

// count is how many there are of something, with its words for one and for several.
type count struct {
	n         int
	one, many string
}

// counted are those of which there are any.
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

// Sentence is the result for somebody who does not know which side is which. Letter is what B is called.
func (r *Result) Sentence(letter string) string {
	first := r.Runs[0]
	parts := counted(count{first.OnlyA, "pod would lose its node", "pods would lose their nodes"},
		count{first.OnlyB, "pending pod would get a node", "pending pods would get nodes"},
		count{first.Moved, "pod would have another node", "pods would have other nodes"})
	if len(parts) == 0 {
		parts = []string{"every pod would have the same node, or stay pending"}
	}
	parts = append(parts, counted(count{first.Ties, "pod would move by chance alone", "pods would move by chance alone"})...)
	unreliable := counted(count{len(r.Unplaced), "running pod without a node under A makes this unreliable. ", "running pods without a node under A make this unreliable. "})
	last := len(parts) - 1
	all := strings.TrimPrefix(strings.Join(parts[:last], ", ")+" and "+parts[last], " and ")
	return fmt.Sprintf("%sIf the scheduler had the configuration %s (%s) in place of %s (A), %s.", strings.Join(unreliable, ""), r.B, letter, r.A, all)
}

func (r *Result) outcome() string {
	first := r.Runs[0]
	parts := counted(count{first.OnlyA, "pod loses its node", "pods lose their node"},
		count{first.OnlyB, "pod gains a node", "pods gain a node"},
		count{first.Moved - first.Follows, "pod moves", "pods move"})
	switch {
	case len(parts) > 0 && first.Follows > 0:
		return strings.Join(parts, ", ") + " under B, with " + words.Plural(first.Follows, "knock-on effect")
	case first.Follows > 0:
		return words.Plural(first.Follows, "knock-on effect") + " under B"
	case len(parts) > 0:
		return strings.Join(parts, ", ") + " under B"
	case first.Ties > 0:
		return "No difference but " + words.Plural(first.Ties, "tie")
	}
	return "No difference"
}
