package answers

import (
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
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
	mu    sync.Mutex
	ids   map[string]Node
	bytes int // of the values
}

// maxGone and maxGoneBytes bound the numbers of nodes that are gone, and the values of their fields: beyond these all answers are dropped.
const maxGone, maxGoneBytes = 1000, 1 << 20

func (n *numbering) size() (numbers, bytes int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.ids), n.bytes
}

// of is the number of the nodes whose fields have these values.
func (n *numbering) of(values []byte) Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.ids[string(values)]
	if !ok {
		id = Node(len(n.ids))
		n.ids[string(values)] = id
		n.bytes += len(values)
	}
	return id
}

// nodes are the numbers of the nodes of a cycle. They never change, but for objects.
type nodes struct {
	version int64 // another one for each list, and for other numbers
	list    []fwk.NodeInfo
	bytes   int                          // of the values of their fields
	numbers []Node                       // in the order of the list
	byInfo  map[*framework.NodeInfo]Node // a map of interfaces takes 20 ns more
	objects []*v1.Node                   // the numbers are of these; with the store's lock; empty if names alone count
}

// renew makes the numbers of another list, or of one in which nodes have changed. The store
// must be locked.
func (s *Store) renew(list []fwk.NodeInfo) {
	last, fields := s.nodes, s.fields.Node
	onlyName := len(fields) == 1 && fields[0].Kind == abi.Name
	same := naming.Same(last.list, list)
	if same && (onlyName || slices.EqualFunc(list, last.objects, func(info fwk.NodeInfo, node *v1.Node) bool { return info.Node() == node })) {
		return
	}
	next := &nodes{version: last.version + 1, list: list, numbers: make([]Node, len(list))}
	var values []byte
	for i, info := range list {
		node := info.Node()
		values = appendValues(values[:0], fields, &node.ObjectMeta)
		next.numbers[i] = s.numbers.of(values)
		next.bytes += len(values)
		if !onlyName {
			next.objects = append(next.objects, node)
		}
	}
	if same && slices.Equal(next.numbers, last.numbers) { // nothing that counts has changed
		last.objects, last.bytes = next.objects, next.bytes
		return
	}
	next.byInfo = make(map[*framework.NodeInfo]Node, len(list))
	for i, info := range list {
		if one, ok := info.(*framework.NodeInfo); ok {
			next.byInfo[one] = next.numbers[i]
		}
	}
	s.nodes = next
}

// number finds the number of a node. One that is tried out with other pods, as for
// preemption, is not in the list.
func (k *Kind) number(info fwk.NodeInfo) Node {
	if one, ok := info.(*framework.NodeInfo); ok {
		if node, ok := k.nodes.byInfo[one]; ok {
			return node
		}
	}
	var buffer [256]byte
	return k.numbers.of(appendValues(buffer[:0], k.fields.Node, &info.Node().ObjectMeta))
}

// Filter is what Filter has answered about a node that may be new, if that is remembered. It makes no number for the node.
func (k *Kind) Filter(node *v1.Node) (v abi.Verdict, ok bool) {
	var buffer [256]byte
	values := appendValues(buffer[:0], k.fields.Node, &node.ObjectMeta)
	k.numbers.mu.Lock()
	number, ok := k.numbers.ids[string(values)]
	k.numbers.mu.Unlock()
	if !ok {
		return v, false
	}
	return k.verdict(abi.Filter, number)
}
