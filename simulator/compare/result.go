package compare

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// Result is what came of a comparison. All but Runs is of the first run, and
// Unplaced and Differences are of all of them.
type Result struct {
	A string `json:"a"`
	B string `json:"b"`
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
	// that the configurations differ about, then what follows from these; and among
	// either, those that lost their node first.
	Differences []Difference `json:"differences"`
	// Ties are pods that chance alone put elsewhere.
	Ties []Difference `json:"ties"`
	// Nowhere are pods without a node on either side.
	Nowhere []Difference `json:"nowhere"`
	Load    Loads        `json:"load"`
	TimesA  Times        `json:"timesA"`
	TimesB  Times        `json:"timesB"`
	// LeftOut are objects that the API server has refused, on both sides.
	LeftOut []snapshot.Notice `json:"leftOut"`
	// Took is how long the comparison took.
	Took time.Duration `json:"tookNanoseconds"`
}

// Tally is a run in numbers.
type Tally struct {
	Seed      uint64 `json:"seed"`
	Same      int    `json:"same"`
	Elsewhere int    `json:"elsewhere"`
	OnlyA     int    `json:"onlyA"`
	OnlyB     int    `json:"onlyB"`
	Nowhere   int    `json:"nowhere"`
	Ties      int    `json:"ties"`
	Unplaced  int    `json:"unplaced"`
	// Follows is how many of Elsewhere follow from others.
	Follows int `json:"follows"`
	// CPUDeviation is the standard deviation of the nodes' load, in percent.
	CPUDeviationA float64 `json:"cpuDeviationA"`
	CPUDeviationB float64 `json:"cpuDeviationB"`
}

func newResult(o *Options) *Result {
	return &Result{
		A: o.A.Name, B: o.B.Name, Pods: o.Pods, Steps: len(o.Scenario.Steps), LeftOut: []snapshot.Notice{},
		Unplaced: []Difference{}, Differences: []Difference{}, Ties: []Difference{}, Nowhere: []Difference{},
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

// add counts a run in.
func (r *Result) add(seed uint64, v *verdicts) {
	load := newLoads(v.plan.running, v.a, v.b)
	run := Tally{
		Seed: seed, Same: v.same, Nowhere: len(v.nowhere), Ties: len(v.ties), Unplaced: len(v.unplaced),
		CPUDeviationA: load.A.CPU.StandardDeviation, CPUDeviationB: load.B.CPU.StandardDeviation,
	}
	for _, d := range v.differences {
		switch d.Kind {
		case Elsewhere:
			run.Elsewhere++
			run.Follows += follows(d)
		case OnlyA:
			run.OnlyA++
		case OnlyB:
			run.OnlyB++
		}
	}
	if len(r.Runs) == 0 {
		r.LeftOut = append(r.LeftOut, v.a.notices...)
		r.Load, r.TimesA, r.TimesB = load, v.a.times(), v.b.times()
		r.Nodes, r.Asked = len(load.Nodes), max(len(v.a.took), len(v.b.took))
		r.Ties, r.Nowhere = append(r.Ties, v.ties...), append(r.Nowhere, v.nowhere...)
	}
	r.Runs = append(r.Runs, run)
	r.Differences = addTo(r.Differences, v.differences)
	r.Unplaced = addTo(r.Unplaced, v.unplaced)
}

// addTo adds the differences of a run to those of the runs before, each once.
func addTo(all, more []Difference) []Difference {
	type pod struct {
		namespace, name string
		kind            Kind
	}
	at := map[pod]int{}
	for i, d := range all {
		at[pod{d.Namespace, d.Name, d.Kind}] = i
	}
	for _, d := range more {
		if i, ok := at[pod{d.Namespace, d.Name, d.Kind}]; ok {
			all[i].Runs++
		} else {
			all = append(all, d)
		}
	}
	return all
}

// nothing says why the scheduler was asked for no pod.
func (r *Result) nothing() error {
	err := fmt.Errorf("%w: the scheduler was asked for no pod", ErrNothing)
	if waiting := slices.Concat(r.Unplaced, r.Nowhere); len(waiting) > 0 {
		return fmt.Errorf("%w; pod %s: %s", err, waiting[0].key(), waiting[0].Reason)
	}
	if len(r.LeftOut) > 0 {
		return fmt.Errorf("%w; %s", err, r.LeftOut[0])
	}
	return err
}

// rank puts first what people look for.
var rank = map[Kind]int{OnlyA: 0, OnlyB: 1, Elsewhere: 2, Nowhere: 3}

func (r *Result) sort() {
	byKey := func(a, b Difference) int { return cmp.Compare(a.key(), b.key()) }
	slices.SortFunc(r.Unplaced, byKey)
	slices.SortStableFunc(r.Differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(follows(a), follows(b)), cmp.Compare(rank[a.Kind], rank[b.Kind]), byKey(a, b))
	})
}

func follows(d Difference) int {
	if d.Follows {
		return 1
	}
	return 0
}
