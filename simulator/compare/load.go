package compare

import (
	"cmp"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

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

// requestedBy is what the pods request of each node. What has ended requests
// nothing any more.
func requestedBy(pods map[types.NamespacedName]*v1.Pod) map[string]Amount {
	nodes := map[string]Amount{}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" && !podutil.IsPodTerminal(pod) {
			sum := nodes[pod.Spec.NodeName]
			sum.add(newAmount(resource.PodRequests(pod, resource.PodResourcesOptions{}), 1))
			nodes[pod.Spec.NodeName] = sum
		}
	}
	return nodes
}

func newAmount(of v1.ResourceList, pods int64) Amount {
	return Amount{CPU: of.Cpu().MilliValue(), Memory: of.Memory().Value(), Pods: pods}
}

// newLoads counts. A node that a scenario made or deleted on the way is there if
// it is at the end.
func newLoads(running map[types.NamespacedName]*v1.Pod, a, b *sideResult) Loads {
	before, onA, onB := requestedBy(running), requestedBy(a.pods), requestedBy(b.pods)
	var l Loads
	for _, node := range a.nodes {
		has := newAmount(node.Status.Allocatable, node.Status.Allocatable.Pods().Value())
		l.Nodes = append(l.Nodes, NodeLoad{Node: node.Name, Has: has, Before: before[node.Name], A: onA[node.Name], B: onB[node.Name]})
		l.Has.add(has)
	}
	slices.SortFunc(l.Nodes, func(a, b NodeLoad) int { return cmp.Compare(a.Node, b.Node) })
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

func (r *sideResult) times() Times {
	t := Times{Pods: len(r.took), Attempts: r.attempts}
	if n := len(r.took); n > 0 {
		t.P50, t.P99 = r.took[(n-1)*50/100], r.took[(n-1)*99/100]
	}
	return t
}
