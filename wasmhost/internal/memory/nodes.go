package memory

import (
	"encoding/binary"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// Node is the number of all nodes that a guest cannot tell apart: the fields that it decides
// by have the same values.
type Node int32

// numbering has the numbers of nodes by the values of their fields, with those of nodes that
// are gone.
type numbering struct {
	mu  sync.Mutex
	ids map[string]Node
}

// maxGone bounds the numbers of nodes that are gone: beyond it all answers are dropped.
const maxGone = 1000

func (n *numbering) len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.ids)
}

// of is the number of the nodes whose fields have these values.
func (n *numbering) of(values []byte) Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.ids[string(values)]
	if !ok {
		id = Node(len(n.ids))
		n.ids[string(values)] = id
	}
	return id
}

// nodes are the numbers of the nodes of a cycle. They never change, but for objects.
type nodes struct {
	list    []fwk.NodeInfo
	numbers []Node                       // in the order of the list
	places  map[*framework.NodeInfo]Node // a map of interfaces takes 20 ns more
	objects []*v1.Node                   // the numbers are of these; with the cache's lock; empty if names alone count
}

// renew makes the numbers of another list, or of one in which nodes have changed. The cache
// must be locked.
func (c *Cache) renew(list []fwk.NodeInfo) {
	last, fields := c.nodes, c.fields.Node
	onlyName := len(fields) == 1 && fields[0].Kind == abi.Name
	same := naming.Same(last.list, list)
	if same && (onlyName || slices.EqualFunc(list, last.objects, func(info fwk.NodeInfo, node *v1.Node) bool { return info.Node() == node })) {
		return
	}
	next := &nodes{list: list, numbers: make([]Node, len(list))}
	var values []byte
	for place, info := range list {
		node := info.Node()
		values = appendValues(values[:0], fields, &node.ObjectMeta)
		next.numbers[place] = c.numbers.of(values)
		if !onlyName {
			next.objects = append(next.objects, node)
		}
	}
	if same && slices.Equal(next.numbers, last.numbers) { // nothing that counts has changed
		last.objects = next.objects
		return
	}
	next.places = make(map[*framework.NodeInfo]Node, len(list))
	for place, info := range list {
		if one, ok := info.(*framework.NodeInfo); ok {
			next.places[one] = next.numbers[place]
		}
	}
	c.nodes = next
}

// Len is how many nodes there are in the cycle.
func (a *About) Len() int { return len(a.nodes.list) }

// At is the node at a place of the list.
func (a *About) At(place int) (*v1.Node, Node) {
	return a.nodes.list[place].Node(), a.nodes.numbers[place]
}

// Number finds the number of a node. One that is tried out with other pods, as for
// preemption, is not in the list.
func (a *About) Number(info fwk.NodeInfo) Node {
	if one, ok := info.(*framework.NodeInfo); ok {
		if node, ok := a.nodes.places[one]; ok {
			return node
		}
	}
	return a.NumberOf(info.Node())
}

// NumberOf is Number by the values of a node's fields.
func (a *About) NumberOf(node *v1.Node) Node {
	var buffer [256]byte
	return a.numbers.of(appendValues(buffer[:0], a.cache.fields.Node, &node.ObjectMeta))
}

// appendValues writes the values of fields, so that no two differing lists are
// written alike: a length in front, which is 0 for what is not there.
func appendValues(b []byte, fields []abi.Field, of *metav1.ObjectMeta) []byte {
	for _, field := range fields {
		value, ok := ValueOf(field, of)
		if !ok {
			b = append(b, 0)
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(value))+1)
		b = append(b, value...)
	}
	return b
}

// ValueOf is the value of a field, if it is there.
func ValueOf(field abi.Field, of *metav1.ObjectMeta) (value string, ok bool) {
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
