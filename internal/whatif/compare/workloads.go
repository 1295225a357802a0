package compare

import (
	"cmp"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Workload is the pods of one owner. The pods of a namespace that have none are one, too,
// without a kind and a name.
type Workload struct {
	Namespace string `json:"namespace"`
	cluster.Workload
	Replicas int          `json:"replicas"` // that are there on either side
	Kinds    map[Kind]int `json:"differences"`
	Direct   int          `json:"direct"` // how many of the differences are
	Follow   int          `json:"follow"` // and how many follow from other pods
	// Over is how many pods are on the nodes of a zone: today, under A, under B. The zone is
	// empty for nodes without one.
	Over map[string][3]int `json:"over"`
}

// workloads are in the order in which Result has them.
func (v *verdicts) workloads() []*Workload {
	zones := map[string]string{}
	for i := range v.a.Nodes {
		zones[v.a.Nodes[i].Name] = v.a.Nodes[i].Labels[v1.LabelTopologyZone]
	}
	all := map[[3]string]*Workload{}
	of := func(name types.NamespacedName) *Workload {
		pod := v.a.Pod(name)
		if pod.Owner == (cluster.Workload{}) { // it may be known to B alone
			pod = v.b.Pod(name)
		}
		key := [3]string{pod.Namespace, pod.Owner.Kind, pod.Owner.Name}
		if all[key] == nil {
			all[key] = &Workload{Namespace: pod.Namespace, Workload: pod.Owner, Kinds: map[Kind]int{}, Over: map[string][3]int{}}
		}
		return all[key]
	}
	for name := range v.a.Names().Union(v.b.Names()) {
		w := of(name)
		onA := v.a.Pod(name)
		onB := v.b.Pod(name)
		if onA.State != engine.Gone || onB.State != engine.Gone {
			w.Replicas++
		}
		for when, node := range []string{onA.Today, atTheEnd(onA), atTheEnd(onB)} {
			if zone, ok := zones[node]; ok {
				pods := w.Over[zone]
				pods[when]++
				w.Over[zone] = pods
			}
		}
	}
	for _, d := range slices.Concat(v.differences, v.unplaced) {
		w := of(side.KeyOf(d.key()))
		w.Kinds[d.Kind]++
		if d.Follows {
			w.Follow++
		} else if d.Kind != Unplaced {
			w.Direct++
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *Workload) int {
		return cmp.Or(b.Kinds[Unplaced]-a.Kinds[Unplaced], b.Kinds[OnlyA]-a.Kinds[OnlyA], b.Direct-a.Direct, b.Follow-a.Follow,
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}

// Group is the nodes of a zone.
type Group struct {
	Zone string `json:"zone"` // empty: they have none
	Loads
}

// newGroups counts the nodes of each zone, if a node has one.
func newGroups(nodes []NodeLoad) []Group {
	all := []Group{}
	by := map[string][]NodeLoad{}
	for _, node := range nodes {
		zone := node.node.Labels[v1.LabelTopologyZone]
		by[zone] = append(by[zone], node)
	}
	if len(by[""]) == len(nodes) {
		return all
	}
	for _, zone := range slices.Sorted(maps.Keys(by)) {
		one := Group{zone, newLoads(by[zone])}
		one.Nodes = nil
		all = append(all, one)
	}
	return all
}
