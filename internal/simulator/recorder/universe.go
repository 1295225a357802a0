package recorder

import "k8s.io/kube-scheduler/framework"

// universe is a list of all nodes, shared by the attempts that were made while
// there were those. Only names are kept for longer than the current cycle.
type universe struct {
	names []string
	refs  int // by packed attempts; the recorder's lock guards it
}

func (u *universe) bytes() int { return 16*cap(u.names) + nodeNameBytes*len(u.names) }

// nodeNameBytes is what a node's name takes, on average.
const nodeNameBytes = 24

// snapshot is the scheduler's list of nodes, and the places of nodes in it.
type snapshot struct {
	list     []framework.NodeInfo
	universe *universe
	place    map[framework.NodeInfo]int32
	byName   map[string]int32
}

func newSnapshot(list []framework.NodeInfo) *snapshot {
	s := &snapshot{
		list:     list,
		universe: &universe{names: make([]string, len(list))},
		place:    make(map[framework.NodeInfo]int32, len(list)),
		byName:   make(map[string]int32, len(list)),
	}
	for i, node := range list {
		name := node.Node().Name
		s.universe.names[i] = name
		s.place[node] = int32(i)
		s.byName[name] = int32(i)
	}
	return s
}

// is reports whether this is what was made of a list. The scheduler makes a new
// list when nodes come and go, and only then; the old one is held here, so that a
// new one can't be in its place in memory.
func (s *snapshot) is(list []framework.NodeInfo) bool {
	return s != nil && len(s.list) == len(list) && (len(list) == 0 || &s.list[0] == &list[0])
}

// placeOf returns the place of a node of the scheduler's own list.
func (s *snapshot) placeOf(node framework.NodeInfo) (int32, bool) {
	if s == nil {
		return 0, false
	}
	i, ok := s.place[node]
	return i, ok
}

// find returns the place of a node. Extenders make NodeInfos of their own, which
// only their names lead back from.
func (s *snapshot) find(node framework.NodeInfo) (int32, bool) {
	if i, ok := s.place[node]; ok {
		return i, true
	}
	if node == nil || node.Node() == nil {
		return 0, false
	}
	i, ok := s.byName[node.Node().Name]
	return i, ok
}
