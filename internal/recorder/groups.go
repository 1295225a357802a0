package recorder

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/kube-scheduler/framework"
)

// nodes are all nodes that a scheduler has seen, each at a place that it keeps: attempts
// refer to nodes by place, and share the names.
type nodes struct {
	places []int32  // of the nodes in this cycle
	names  []string // by place; only appended to
	byName map[string]int32
}

// follow takes over the scheduler's list of nodes.
func (n *nodes) follow(list []framework.NodeInfo) {
	if len(n.places) != len(list) {
		n.places = make([]int32, len(list))
	}
	for i, node := range list {
		before := int(n.places[i])
		if before >= len(n.names) || n.names[before] != node.Node().Name { // most often, the list is the one of the attempt before
			n.places[i] = n.place(node)
		}
	}
}

// place is the place of a node, which it gets if it has none yet.
func (n *nodes) place(node framework.NodeInfo) int32 {
	if n.byName == nil {
		n.byName = map[string]int32{}
	}
	name := node.Node().Name
	place, ok := n.byName[name]
	if !ok {
		place = int32(len(n.names))
		n.names, n.byName[name] = append(n.names, name), place
	}
	return place
}

// trim begins a new list of names where most of the nodes are gone. Attempts keep the list
// that they were made with.
func (n *nodes) trim() {
	const few = 1000
	if len(n.names) > 2*len(n.places)+few {
		n.names, n.byName = nil, nil
	}
}

// nodeSet is some nodes, by their places in a list of names.
type nodeSet struct {
	names  []string
	Places places `json:"nodes"`
}

func (s nodeSet) sorted() []string {
	names := make([]string, 0, s.Places.count())
	for _, place := range s.Places.all() {
		names = append(names, s.names[place])
	}
	slices.Sort(names)
	return names
}

// nodeVerdict is what the nodes of a group have in common.
type nodeVerdict struct {
	verdict Verdict
	column  int
	reason  string
	lacking string // as in Group
}

// rank puts errors and rejections first.
var rank = map[Verdict]int{Errored: 0, Rejected: 1, Excluded: 2, Passed: 3, NotRun: 4}

// groupNodes groups nodes by the verdicts on them, which are by place, and sorts the groups
// by rank.
func groupNodes(names []string, nodes []int32, verdicts []nodeVerdict) []Group {
	var groups []Group
	index := map[nodeVerdict]int{}
	for _, place := range nodes {
		v := verdicts[place]
		i, ok := index[v]
		if !ok {
			i, index[v] = len(groups), len(groups)
			groups = append(groups, Group{v.verdict, v.column, v.reason, v.lacking, nodeSet{names: names}})
		}
		groups[i].Places.add(place)
	}
	for i := range groups {
		groups[i].Places = slices.Clone(groups[i].Places) // without spare capacity
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(rank[a.Verdict], rank[b.Verdict]), cmp.Compare(a.Column, b.Column),
			cmp.Compare(b.Len(), a.Len()), strings.Compare(a.Reason, b.Reason))
	})
	return groups
}

func verdictOf(status *framework.Status) (Verdict, string) {
	switch {
	case status.IsSuccess():
		return Passed, ""
	case status.IsSkip():
		return Skipped, ""
	case status.IsWait():
		return Waits, status.Message()
	case status.IsRejected():
		return Rejected, status.Message()
	}
	return Errored, status.Message()
}
