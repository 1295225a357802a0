package wasmhost

import (
	"maps"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// nodeTable numbers nodes by the values of the fields that a guest decides by:
// nodes that it cannot tell apart have one number. A table is of one list of nodes
// and never changes; the next one goes on with its numbers.
type nodeTable struct {
	number uint64 // tables with the same one have the same names and numbers of nodes
	list   []fwk.NodeInfo
	nodes  []*v1.Node // in their order
	listed []int32    // their numbers
	fields []abi.Field
	ids    map[string]int32 // with those of nodes that are gone
	at     map[*v1.Node]int32
}

// named reports whether the name is all that counts of a node.
func named(fields []abi.Field) bool { return len(fields) == 1 && fields[0].Kind == abi.Name }

// isOf reports whether a list is the one that the table is of, and its nodes have
// the same fields.
func (t *nodeTable) isOf(nodes []fwk.NodeInfo, fields []abi.Field) bool {
	if !naming.Same(t.list, nodes) {
		return false
	}
	if named(fields) {
		return true
	}
	for i, node := range nodes {
		if node.Node() != t.nodes[i] {
			return false
		}
	}
	return true
}

// next is the table of another list. It has a number only if that is this one's.
func (t *nodeTable) next(list []fwk.NodeInfo, fields []abi.Field) *nodeTable {
	next := &nodeTable{list: list, nodes: make([]*v1.Node, len(list)), listed: make([]int32, len(list)), fields: fields, ids: t.ids, at: make(map[*v1.Node]int32, len(list))}
	alike := len(list) == len(t.listed)
	var buffer []byte
	for i, info := range list {
		node := info.Node()
		key := node.Name
		if !named(fields) {
			buffer = appendValues(buffer[:0], fields, &node.ObjectMeta)
			key = string(buffer)
		}
		id, ok := next.ids[key]
		if !ok {
			if len(next.ids) == len(t.ids) { // the other table's stay as they are
				next.ids = maps.Clone(t.ids)
			}
			if next.ids == nil {
				next.ids = make(map[string]int32, len(list))
			}
			id = int32(len(next.ids))
			next.ids[key] = id
		}
		next.nodes[i], next.listed[i], next.at[node] = node, id, id
		alike = alike && id == t.listed[i] && node.Name == t.nodes[i].Name
	}
	if alike {
		next.number = t.number
	}
	return next
}

// id is the number of a node, if it has one.
func (t *nodeTable) id(node *v1.Node) (int32, bool) {
	if id, ok := t.at[node]; ok {
		return id, true
	}
	if named(t.fields) {
		id, ok := t.ids[node.Name]
		return id, ok
	}
	var buffer [256]byte
	id, ok := t.ids[string(appendValues(buffer[:0], t.fields, &node.ObjectMeta))]
	return id, ok
}
