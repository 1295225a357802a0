package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Resources that every node has. Extended ones go by their names.
const (
	CPU    = "CPU"
	Memory = "memory"
	Pods   = "pods"
)

// Amount is what pods request, or nodes have.
type Amount struct {
	CPU      int64            `json:"milliCPU"`
	Memory   int64            `json:"memoryBytes"`
	Pods     int64            `json:"pods"`
	Movable  int64            `json:"movablePods,omitempty"` // neither a DaemonSet's nor static
	Extended map[string]int64 `json:"extended,omitempty"`
}

func (a *Amount) add(b Amount) {
	a.CPU += b.CPU
	a.Memory += b.Memory
	a.Pods += b.Pods
	a.Movable += b.Movable
	for name, much := range b.Extended {
		if a.Extended == nil {
			a.Extended = map[string]int64{}
		}
		a.Extended[name] += much
	}
}

// Of is how much it is of a resource.
func (a Amount) Of(resource string) int64 {
	switch resource {
	case CPU:
		return a.CPU
	case Memory:
		return a.Memory
	case Pods:
		return a.Pods
	}
	return a.Extended[resource]
}

// NodeLoad is a node, with what is requested of it.
type NodeLoad struct {
	Node   string `json:"node"`
	Has    Amount `json:"allocatable"`
	Before Amount `json:"before"`
	A      Amount `json:"a"`
	B      Amount `json:"b"`

	node *side.Node
}

// Load is what is requested of all nodes.
type Load struct {
	Requested Amount `json:"requested"`
	// Imbalance is the standard deviation, by resource, in percent of what each node has that is there on this side.
	Imbalance map[string]float64 `json:"imbalance"`
	// Used and Empty are how many nodes have a movable pod, and how many have none.
	Used  int `json:"nodesUsed"`
	Empty int `json:"nodesEmpty"`
}

// Loads are of the cluster as it was in the file, and on each side at the end.
type Loads struct {
	Has    Amount     `json:"allocatable"`
	Before Load       `json:"before"`
	A      Load       `json:"a"`
	B      Load       `json:"b"`
	Nodes  []NodeLoad `json:"nodes,omitempty"`
}

// Resources are what nodes have: extended ones come last, GPUs first among them.
func (l *Loads) Resources() []string {
	extended := slices.Sorted(maps.Keys(l.Has.Extended))
	slices.SortStableFunc(extended, func(a, b string) int {
		return cmp.Compare(strings.Count(b, "gpu"), strings.Count(a, "gpu"))
	})
	return append([]string{CPU, Memory, Pods}, extended...)
}

// requestedBy is what pods request of each node, given the node that each is on, if any.
func requestedBy(pods []*side.Pod, on func(*side.Pod) string) map[string]Amount {
	nodes := map[string]Amount{}
	for _, pod := range pods {
		node := on(pod)
		if node == "" {
			continue
		}
		amount := newAmount(pod.Requests, 1)
		if pod.Owner.Kind != "DaemonSet" && pod.Owner.Kind != cluster.OfStatic {
			amount.Movable = 1
		}
		sum := nodes[node]
		sum.add(amount)
		nodes[node] = sum
	}
	return nodes
}

// atTheEnd is the node of a pod. What has ended requests nothing any more.
func atTheEnd(pod *side.Pod) string {
	if pod.Ended {
		return ""
	}
	return pod.Node
}

func newAmount(of v1.ResourceList, pods int64) Amount {
	a := Amount{CPU: of.Cpu().MilliValue(), Memory: of.Memory().Value(), Pods: pods}
	for name, much := range of {
		if v1helper.IsExtendedResourceName(name) && !much.IsZero() {
			a.add(Amount{Extended: map[string]int64{string(name): much.Value()}})
		}
	}
	return a
}

// nodeLoads counts. A node that a scenario made or deleted on the way is there if it is
// at the end.
func nodeLoads(a, b *side.Result) (nodes []NodeLoad) {
	before := requestedBy(a.Pods, func(pod *side.Pod) string { return pod.Today })
	onA, onB := requestedBy(a.Pods, atTheEnd), requestedBy(b.Pods, atTheEnd)
	for i := range a.Nodes {
		node := &a.Nodes[i]
		has := newAmount(node.Allocatable, node.Allocatable.Pods().Value())
		nodes = append(nodes, NodeLoad{node.Name, has, before[node.Name], onA[node.Name], onB[node.Name], node})
	}
	return nodes
}

func newLoads(nodes []NodeLoad) Loads {
	l := Loads{Nodes: nodes}
	for _, node := range nodes {
		l.Has.add(node.Has)
	}
	inTheFile := slices.DeleteFunc(slices.Clone(nodes), func(n NodeLoad) bool { return !n.node.Today })
	l.Before = l.of(inTheFile, func(n NodeLoad) Amount { return n.Before })
	l.A = l.of(nodes, func(n NodeLoad) Amount { return n.A })
	l.B = l.of(nodes, func(n NodeLoad) Amount { return n.B })
	return l
}

func (l *Loads) of(nodes []NodeLoad, requested func(NodeLoad) Amount) Load {
	load := Load{Imbalance: map[string]float64{}}
	percent := map[string][]float64{}
	resources := l.Resources()
	for _, node := range nodes {
		used := requested(node)
		load.Requested.add(used)
		if used.Movable > 0 {
			load.Used++
		} else {
			load.Empty++
		}
		for _, resource := range resources {
			has := node.Has.Of(resource)
			if has > 0 {
				percent[resource] = append(percent[resource], Percent(used.Of(resource), has))
			}
		}
	}
	for resource, values := range percent {
		load.Imbalance[resource] = deviation(values)
	}
	return load
}

// Percent is 0 of nothing.
func Percent(used, has int64) float64 {
	if has == 0 {
		return 0
	}
	return 100 * float64(used) / float64(has)
}

func deviation(values []float64) float64 {
	mean, variance := 0.0, 0.0
	for _, value := range values {
		mean += value / float64(len(values))
	}
	for _, value := range values {
		variance += (value - mean) * (value - mean) / float64(len(values))
	}
	return math.Sqrt(variance)
}
