package recorder

import (
	"iter"
	"math/bits"
	"slices"

	"k8s.io/kube-scheduler/framework"
)

// nodes are all the nodes that a scheduler has seen, each at a place that it keeps:
// attempts refer to nodes by place, and share the names.
type nodes struct {
	list   []framework.NodeInfo         // the scheduler's, as it last was
	places []int32                      // of those in the list
	at     map[framework.NodeInfo]int32 // the same
	names  []string                     // by place; appended to only
	byName map[string]int32
}

// follow takes over the scheduler's list. The scheduler makes a new one when nodes
// come and go, and only then; the old one is held here, so that a new one can't be
// in its place in memory.
func (n *nodes) follow(list []framework.NodeInfo) {
	if len(n.list) == len(list) && (len(list) == 0 || &n.list[0] == &list[0]) {
		return
	}
	if n.byName == nil {
		n.byName = make(map[string]int32, len(list))
	}
	n.list, n.places, n.at = list, make([]int32, len(list)), make(map[framework.NodeInfo]int32, len(list))
	for i, node := range list {
		name := node.Node().Name
		place, ok := n.byName[name]
		if !ok {
			place = int32(len(n.names))
			n.names, n.byName[name] = append(n.names, name), place
		}
		n.places[i], n.at[node] = place, place
	}
}

// find returns the place of a node. Extenders make NodeInfos of their own, which
// only their names lead back from.
func (n *nodes) find(node framework.NodeInfo) (int32, bool) {
	if place, ok := n.at[node]; ok {
		return place, true
	}
	if node == nil || node.Node() == nil {
		return 0, false
	}
	place, ok := n.byName[node.Node().Name]
	return place, ok
}

// nodeSet is a set of nodes by their places: a list while it is small, a bitmap
// when that is smaller.
type nodeSet struct {
	names  []string // by place
	list   []int32
	bitmap []uint64
}

// newNodeSet packs places.
func newNodeSet(places []int32, names []string) nodeSet {
	words := (len(names) + 63) / 64
	if len(places)*4 <= words*8 {
		return nodeSet{names: names, list: slices.Clone(places)}
	}
	s := nodeSet{names: names, bitmap: make([]uint64, words)}
	for _, place := range places {
		s.bitmap[place/64] |= 1 << (place % 64)
	}
	return s
}

func (s nodeSet) len() int {
	n := len(s.list)
	for _, word := range s.bitmap {
		n += bits.OnesCount64(word)
	}
	return n
}

// all goes through the set, in increasing order if that is how it was packed.
func (s nodeSet) all() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, place := range s.list {
			if !yield(place) {
				return
			}
		}
		for w, word := range s.bitmap {
			for ; word != 0; word &= word - 1 {
				if !yield(int32(w*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// sorted are the names of the nodes, sorted.
func (s nodeSet) sorted() []string {
	names := make([]string, 0, s.len())
	for place := range s.all() {
		names = append(names, s.names[place])
	}
	slices.Sort(names)
	return names
}
