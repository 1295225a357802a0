package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

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
	Differences []Difference      `json:"differences"`
	Ties        []Difference      `json:"ties"`    // pods that chance alone put elsewhere
	Nowhere     []Difference      `json:"nowhere"` // pods without a node on either side
	Load        Loads             `json:"load"`
	TimesA      Times             `json:"timesA"`
	TimesB      Times             `json:"timesB"`
	LeftOut     []snapshot.Notice `json:"leftOut"`         // objects that the API server has refused, on both sides
	Took        time.Duration     `json:"tookNanoseconds"` // how long the comparison took
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
	Follows   int    `json:"follows"` // how many of Elsewhere follow from others
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

func (r *Result) add(seed uint64, v *verdicts) {
	load := newLoads(v.a, v.b)
	run := Tally{
		Seed: seed, Same: v.same, Nowhere: len(v.nowhere), Ties: len(v.ties), Unplaced: len(v.unplaced),
		CPUDeviationA: load.A.CPU.StandardDeviation, CPUDeviationB: load.B.CPU.StandardDeviation,
	}
	for _, d := range v.differences {
		switch d.Kind {
		case Elsewhere:
			if run.Elsewhere++; d.Follows {
				run.Follows++
			}
		case OnlyA:
			run.OnlyA++
		case OnlyB:
			run.OnlyB++
		}
	}
	if len(r.Runs) == 0 {
		r.LeftOut = append(r.LeftOut, v.a.LeftOut...)
		r.Load, r.TimesA, r.TimesB = load, v.a.times(), v.b.times()
		r.Nodes, r.Asked = len(load.Nodes), max(r.TimesA.Pods, r.TimesB.Pods)
		r.Ties, r.Nowhere = append(r.Ties, v.ties...), append(r.Nowhere, v.nowhere...)
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

// rank puts first what people look for, and last what follows from other pods.
func (d *Difference) rank() int {
	i := slices.Index([]Kind{OnlyA, OnlyB, Elsewhere, Nowhere}, d.Kind)
	if d.Follows {
		i += 10
	}
	return i
}

func (r *Result) sort() {
	byKey := func(a, b Difference) int { return cmp.Compare(a.key(), b.key()) }
	slices.SortFunc(r.Unplaced, byKey)
	slices.SortFunc(r.Differences, func(a, b Difference) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), byKey(a, b)) })
}

// Amount is what pods request, or nodes have.
type Amount struct {
	CPU    int64 `json:"milliCPU"`
	Memory int64 `json:"memoryBytes"`
	Pods   int64 `json:"pods"`
}

func (a *Amount) add(b Amount) {
	a.CPU, a.Memory, a.Pods = a.CPU+b.CPU, a.Memory+b.Memory, a.Pods+b.Pods
}

// NodeLoad is a node, with what is requested of it.
type NodeLoad struct {
	Node   string `json:"node"`
	Has    Amount `json:"allocatable"`
	Before Amount `json:"before"`
	A      Amount `json:"a"`
	B      Amount `json:"b"`
}

// Spread is how uneven something is over the nodes, in percent of what each has.
type Spread struct {
	Min               float64 `json:"min"`
	Max               float64 `json:"max"`
	Mean              float64 `json:"mean"`
	StandardDeviation float64 `json:"standardDeviation"`
}

// Load is what is requested of all nodes.
type Load struct {
	Requested Amount `json:"requested"`
	// CPU, Memory and Pods are over the nodes that are there on this side.
	CPU    Spread `json:"cpuPercent"`
	Memory Spread `json:"memoryPercent"`
	Pods   Spread `json:"podsPercent"`
}

// Loads are those of the cluster as it was in the file, and on each side at the end.
type Loads struct {
	Has    Amount     `json:"allocatable"`
	Before Load       `json:"before"`
	A      Load       `json:"a"`
	B      Load       `json:"b"`
	Nodes  []NodeLoad `json:"nodes"`
}

// requestedBy is what pods request of each node, given the node that each is on, if any.
func requestedBy(pods []*Pod, on func(*Pod) string) map[string]Amount {
	nodes := map[string]Amount{}
	for _, pod := range pods {
		if node := on(pod); node != "" {
			sum := nodes[node]
			sum.add(newAmount(pod.Requests, 1))
			nodes[node] = sum
		}
	}
	return nodes
}

// atTheEnd is the node of a pod. What has ended requests nothing any more.
func atTheEnd(pod *Pod) string {
	if pod.Ended {
		return ""
	}
	return pod.Node
}

func newAmount(of v1.ResourceList, pods int64) Amount {
	return Amount{CPU: of.Cpu().MilliValue(), Memory: of.Memory().Value(), Pods: pods}
}

// newLoads counts. A node that a scenario made or deleted on the way is there if
// it is at the end.
func newLoads(a, b *SideResult) Loads {
	before := requestedBy(a.Pods, func(pod *Pod) string { return pod.Today })
	onA, onB := requestedBy(a.Pods, atTheEnd), requestedBy(b.Pods, atTheEnd)
	var l Loads
	for _, node := range a.Nodes {
		has := newAmount(node.Allocatable, node.Allocatable.Pods().Value())
		l.Nodes = append(l.Nodes, NodeLoad{Node: node.Name, Has: has, Before: before[node.Name], A: onA[node.Name], B: onB[node.Name]})
		l.Has.add(has)
	}
	l.Before = newLoad(l.Nodes, func(n NodeLoad) Amount { return n.Before })
	l.A = newLoad(l.Nodes, func(n NodeLoad) Amount { return n.A })
	l.B = newLoad(l.Nodes, func(n NodeLoad) Amount { return n.B })
	return l
}

func newLoad(nodes []NodeLoad, of func(NodeLoad) Amount) Load {
	var l Load
	var cpu, memory, pods []float64
	for _, node := range nodes {
		used := of(node)
		l.Requested.add(used)
		cpu = append(cpu, Percent(used.CPU, node.Has.CPU))
		memory = append(memory, Percent(used.Memory, node.Has.Memory))
		pods = append(pods, Percent(used.Pods, node.Has.Pods))
	}
	l.CPU, l.Memory, l.Pods = newSpread(cpu), newSpread(memory), newSpread(pods)
	return l
}

// Percent is 0 of nothing.
func Percent(used, has int64) float64 {
	if has == 0 {
		return 0
	}
	return 100 * float64(used) / float64(has)
}

func newSpread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	s := Spread{Min: slices.Min(values), Max: slices.Max(values)}
	for _, value := range values {
		s.Mean += value / float64(len(values))
	}
	for _, value := range values {
		s.StandardDeviation += (value - s.Mean) * (value - s.Mean) / float64(len(values))
	}
	s.StandardDeviation = math.Sqrt(s.StandardDeviation)
	return s
}

// Times are how long the scheduler took to find nodes, all attempts for a pod
// together.
type Times struct {
	Pods     int           `json:"pods"`
	Attempts int           `json:"attempts"`
	P50      time.Duration `json:"p50Nanoseconds"`
	P99      time.Duration `json:"p99Nanoseconds"`
}
