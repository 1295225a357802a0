package recorder

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/kube-scheduler/framework"
)

// nodes are all the nodes that a scheduler has seen, each at a place that it keeps:
// attempts refer to nodes by place, and share the names.
type nodes struct {
	list   []framework.NodeInfo // the scheduler's, as it last was
	places []int32              // of those in the list
	names  []string             // by place; appended to only
	byName map[string]int32
}

// follow takes over the scheduler's list. The scheduler makes a new one when nodes
// come and go, and only then; the old one is kept here, so that a new one can't be
// in its place in memory.
func (n *nodes) follow(list []framework.NodeInfo) {
	if len(n.list) == len(list) && (len(list) == 0 || &n.list[0] == &list[0]) {
		return
	}
	if n.byName == nil {
		n.byName = make(map[string]int32, len(list))
	}
	n.list, n.places = list, make([]int32, len(list))
	for i, node := range list {
		name := node.Node().Name
		place, ok := n.byName[name]
		if !ok {
			place = int32(len(n.names))
			n.names, n.byName[name] = append(n.names, name), place
		}
		n.places[i] = place
	}
}

// find returns the place of a node. Extenders make NodeInfos of their own, so it goes
// by the name.
func (n *nodes) find(node framework.NodeInfo) (int32, bool) {
	place, ok := n.byName[node.Node().Name]
	return place, ok
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
}

// rank puts what needs attention first.
var rank = map[Verdict]int{Errored: 0, Rejected: 1, LeftOut: 2, Passed: 3, NotRun: 4}

// groupNodes sorts nodes by the verdicts on them, which are by place, and the groups by
// need.
func groupNodes(names []string, nodes []int32, verdicts []nodeVerdict) []Group {
	var groups []Group
	index := map[nodeVerdict]int{}
	for _, place := range nodes {
		v := verdicts[place]
		i, ok := index[v]
		if !ok {
			i, index[v] = len(groups), len(groups)
			groups = append(groups, Group{v.verdict, v.column, v.reason, nodeSet{names: names}})
		}
		groups[i].Places.add(place)
	}
	for i := range groups {
		groups[i].Places = slices.Clone(groups[i].Places) // which has no room to grow
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
