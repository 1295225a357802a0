package compare

import (
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	quota "k8s.io/apiserver/pkg/quota/v1"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// movablePods counts, beside all pods, the ones that are neither a DaemonSet's nor static.
const movablePods = "movablePods"

// NodeLoad is a node, with what pods request of it: also how many there are.
type NodeLoad struct {
	Node   string          `json:"node"`
	Has    v1.ResourceList `json:"allocatable"`
	Before v1.ResourceList `json:"before"`
	A      v1.ResourceList `json:"a"`
	B      v1.ResourceList `json:"b"`

	node *side.Node
}

// Load is what is requested of all nodes.
type Load struct {
	Requested v1.ResourceList `json:"requested"`
	// Imbalance is the standard deviation, by resource, in percent of what each node has that is there on this side.
	Imbalance map[v1.ResourceName]float64 `json:"imbalance"`
	// Used and Empty are how many nodes have a movable pod, and how many have none.
	Used  int `json:"nodesUsed"`
	Empty int `json:"nodesEmpty"`
}

// Loads are of the cluster as it was in the file, and on each side at the end.
type Loads struct {
	Has    v1.ResourceList `json:"allocatable"`
	Before Load            `json:"before"`
	A      Load            `json:"a"`
	B      Load            `json:"b"`
	Nodes  []NodeLoad      `json:"nodes,omitempty"`
}

// Resources are what nodes have, extended ones last.
func (l *Loads) Resources() []v1.ResourceName {
	extended := slices.DeleteFunc(slices.Sorted(maps.Keys(l.Has)), func(name v1.ResourceName) bool {
		return !v1helper.IsExtendedResourceName(name) || zero(l.Has, name)
	})
	return append([]v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourcePods}, extended...)
}

func zero(of v1.ResourceList, name v1.ResourceName) bool {
	much := of[name]
	return much.IsZero()
}

// requestedBy is what pods request of each node, given the node that each is on, if any.
func requestedBy(pods []*side.Pod, on func(*side.Pod) string) map[string]v1.ResourceList {
	nodes := map[string]v1.ResourceList{}
	for _, pod := range pods {
		node := on(pod)
		if node == "" {
			continue
		}
		one := v1.ResourceList{v1.ResourcePods: *resource.NewQuantity(1, resource.DecimalSI)}
		if pod.Owner.Kind != "DaemonSet" && pod.Owner.Kind != cluster.OfStatic {
			one[movablePods] = one[v1.ResourcePods]
		}
		nodes[node] = quota.Add(nodes[node], quota.Add(one, pod.Requests))
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

// nodeLoads counts. A node that a scenario made or deleted on the way is there if it is
// at the end.
func nodeLoads(a, b *side.Result) (nodes []NodeLoad) {
	before := requestedBy(a.Pods, func(pod *side.Pod) string { return pod.Today })
	onA, onB := requestedBy(a.Pods, atTheEnd), requestedBy(b.Pods, atTheEnd)
	for i := range a.Nodes {
		node := &a.Nodes[i]
		nodes = append(nodes, NodeLoad{node.Name, node.Allocatable, before[node.Name], onA[node.Name], onB[node.Name], node})
	}
	return nodes
}

func newLoads(nodes []NodeLoad) Loads {
	l := Loads{Nodes: nodes}
	for _, node := range nodes {
		l.Has = quota.Add(l.Has, node.Has)
	}
	inTheFile := slices.DeleteFunc(slices.Clone(nodes), func(n NodeLoad) bool { return !n.node.Today })
	l.Before = l.of(inTheFile, func(n NodeLoad) v1.ResourceList { return n.Before })
	l.A = l.of(nodes, func(n NodeLoad) v1.ResourceList { return n.A })
	l.B = l.of(nodes, func(n NodeLoad) v1.ResourceList { return n.B })
	return l
}

func (l *Loads) of(nodes []NodeLoad, requested func(NodeLoad) v1.ResourceList) Load {
	load := Load{Imbalance: map[v1.ResourceName]float64{}}
	for _, node := range nodes {
		load.Requested = quota.Add(load.Requested, requested(node))
		if zero(requested(node), movablePods) {
			load.Empty++
		} else {
			load.Used++
		}
	}
	for _, name := range l.Resources() {
		load.Imbalance[name] = deviation(percents(nodes, name, requested))
	}
	return load
}

// percents are how much of a resource is requested of each node that has some.
func percents(nodes []NodeLoad, name v1.ResourceName, requested func(NodeLoad) v1.ResourceList) (all []float64) {
	for _, node := range nodes {
		if !zero(node.Has, name) {
			all = append(all, 100*float(requested(node), name)/float(node.Has, name))
		}
	}
	return all
}

func float(of v1.ResourceList, name v1.ResourceName) float64 {
	much := of[name]
	return much.AsApproximateFloat64()
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
