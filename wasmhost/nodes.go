package wasmhost

import (
	"encoding/binary"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// nodeTable has the numbers of one list of nodes: nodes with the same values of the fields
// that a guest decides by have one number. It never changes.
type nodeTable struct {
	number uint64 // tables with the same one have the same names and numbers of nodes
	list   []fwk.NodeInfo
	places map[*framework.NodeInfo]int32 // in the list; a map of interfaces takes 20 ns more
	listed []int32                       // the numbers, in the order of the list
	fields []abi.Field
	ids    map[string]int32 // all that there were when it was made
	size   int              // how many these were
}

// name is that of the node at a place of the list.
func (t *nodeTable) name(place int) string { return t.list[place].Node().Name }

// number gives a number to the values of a node's fields. The cache must be locked.
func (c *answerCache) number(key []byte) int32 {
	id, ok := c.ids[string(key)]
	if !ok {
		id = int32(len(c.ids))
		c.ids[string(key)] = id
	}
	return id
}

// renew makes the table of another list, or of one in which nodes have changed. The cache
// must be locked.
func (c *answerCache) renew(list []fwk.NodeInfo) {
	last, fields := c.table, c.fields.Node
	next := &nodeTable{list: list, places: last.places, listed: make([]int32, len(list)), fields: fields}
	if !naming.Same(list, last.list) {
		next.places = make(map[*framework.NodeInfo]int32, len(list))
		for i, info := range list {
			if one, ok := info.(*framework.NodeInfo); ok {
				next.places[one] = int32(i)
			}
		}
	}
	c.nodes = c.nodes[:0]
	alike := len(list) == len(last.list)
	var key []byte
	for i, info := range list {
		node := info.Node()
		key = appendValues(key[:0], fields, &node.ObjectMeta)
		next.listed[i] = c.number(key)
		if !onlyName(fields) {
			c.nodes = append(c.nodes, node)
		}
		alike = alike && next.listed[i] == last.listed[i] && node.Name == last.name(i)
	}
	next.ids, next.size, next.number = last.ids, len(c.ids), last.number
	if next.size != last.size {
		next.ids = maps.Clone(c.ids)
	}
	clear(c.nodes[len(c.nodes):cap(c.nodes)])
	if !alike || next.number == 0 {
		c.tables++
		next.number = c.tables
	}
	c.table = next
}

// tableIsOf reports whether the last table is of a list of nodes, none of which has changed
// since. Where names alone count, no change does.
func (c *answerCache) tableIsOf(nodes []fwk.NodeInfo) bool {
	return naming.Same(c.table.list, nodes) && (onlyName(c.fields.Node) ||
		slices.EqualFunc(nodes, c.nodes, func(info fwk.NodeInfo, node *v1.Node) bool { return info.Node() == node }))
}

// onlyName reports whether the name is all that counts of a node.
func onlyName(fields []abi.Field) bool { return len(fields) == 1 && fields[0].Kind == abi.Name }

// unnumbered stands for the number of a node that has none.
const unnumbered = -1

// id is the number of a node. One that is tried out with other pods, as for preemption, is
// not in the list.
func (t *nodeTable) id(info fwk.NodeInfo) int32 {
	if one, ok := info.(*framework.NodeInfo); ok {
		if place, ok := t.places[one]; ok {
			return t.listed[place]
		}
	}
	var buffer [256]byte
	if id, ok := t.ids[string(appendValues(buffer[:0], t.fields, &info.Node().ObjectMeta))]; ok {
		return id
	}
	return unnumbered
}

// appendValues writes the values of fields, so that no two differing lists are
// written alike: a length in front, which is 0 for what is not there.
func appendValues(b []byte, fields []abi.Field, of *metav1.ObjectMeta) []byte {
	for _, field := range fields {
		value, ok := valueOf(field, of)
		if !ok {
			b = append(b, 0)
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(value))+1)
		b = append(b, value...)
	}
	return b
}

// valueOf is the value of a field, if it is there.
func valueOf(field abi.Field, of *metav1.ObjectMeta) (value string, ok bool) {
	switch field.Kind {
	case abi.Namespace:
		return of.Namespace, true
	case abi.Name:
		return of.Name, true
	case abi.Label:
		value, ok = of.Labels[field.Key]
	case abi.Annotation:
		value, ok = of.Annotations[field.Key]
	}
	return value, ok
}
