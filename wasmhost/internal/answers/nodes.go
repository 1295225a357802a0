package answers

import (
	"slices"
	"sync"
	"sync/atomic"

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

// find is the number of the nodes whose fields have these values, if they have one.
func (n *numbering) find(values []byte) (id Node, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok = n.ids[string(values)]
	return id, ok
}

// nodes are the numbers of the nodes of a cycle. They never change, but for objects and sums.
type nodes struct {
	version int64 // another one for each list, and for other numbers
	list    []fwk.NodeInfo
	bytes   int                         // of the values of their fields
	numbers []Node                      // in the order of the list
	places  map[*framework.NodeInfo]int // in the list; a map of interfaces takes 20 ns more
	objects []*v1.Node                  // the numbers are of these; with the store's lock; empty if names alone count
	sums    []atomic.Pointer[sums]      // instead of numbers and objects, where fields depend on pods
}

// sums are the number of a node, and what it had then.
type sums struct {
	node   *v1.Node
	values []int64 // of the fields that depend on pods
	number Node
}

// renew makes the numbers of another list, or of one in which nodes have changed. The store
// must be locked.
func (s *Store) renew(list []fwk.NodeInfo) {
	last, fields := s.nodes, s.fields.Node
	onlyName := len(fields) == 1 && fields[0].Kind == abi.Name
	same := naming.Same(last.list, list)
	if same && (onlyName || s.countsPods || slices.EqualFunc(list, last.objects, func(info fwk.NodeInfo, node *v1.Node) bool { return info.Node() == node })) {
		return
	}
	next := &nodes{version: last.version + 1, list: list, numbers: make([]Node, len(list))}
	var values []byte
	for i, info := range list {
		node := info.Node()
		values = appendNode(values[:0], fields, info)
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
	if s.countsPods {
		next.numbers, next.objects, next.sums = nil, nil, make([]atomic.Pointer[sums], len(list))
	}
	next.places = make(map[*framework.NodeInfo]int, len(list))
	for i, info := range list {
		if one, ok := info.(*framework.NodeInfo); ok {
			next.places[one] = i
		}
	}
	s.nodes = next
}

// unnumbered is a node of which nothing is remembered.
const unnumbered Node = -1

// number finds the number of a node. One that is tried out with other pods, as for
// preemption, is not in the list, and gets no number of its own where pods count: there are many.
func (k *Kind) number(info fwk.NodeInfo) Node {
	place, listed := 0, false
	if one, ok := info.(*framework.NodeInfo); ok {
		place, listed = k.nodes.places[one]
	}
	switch {
	case listed && k.countsPods:
		return k.numberNow(info, &k.nodes.sums[place])
	case listed:
		return k.nodes.numbers[place]
	}
	var buffer [256]byte
	values := appendNode(buffer[:0], k.fields.Node, info)
	if !k.countsPods {
		return k.numbers.of(values)
	}
	number, ok := k.numbers.find(values)
	if !ok {
		return unnumbered
	}
	return number
}

// numberNow finds the number of a node by the pods that it has now. The values are compared with the last ones, and not the generation: the
// scheduler tries pods of a group out on the nodes of its snapshot, and gives a node the old one back.
func (k *Kind) numberNow(info fwk.NodeInfo, known *atomic.Pointer[sums]) Node {
	var few [4]int64
	last := known.Load()
	if last != nil && last.node == info.Node() && slices.Equal(last.values, k.appendSums(few[:0], info)) {
		return last.number
	}
	var buffer [256]byte
	number := k.numbers.of(appendNode(buffer[:0], k.fields.Node, info))
	known.Store(&sums{info.Node(), k.appendSums(nil, info), number})
	return number
}

func (k *Kind) appendSums(values []int64, info fwk.NodeInfo) []int64 {
	for _, field := range k.fields.Node {
		if field.DependsOnPods() {
			values = append(values, Sum(field, info))
		}
	}
	return values
}

// Filter is what Filter has answered about a node that may be new, if that is remembered, whatever pods are there. It makes no number for
// the node.
func (k *Kind) Filter(node *v1.Node) (v abi.Verdict, ok bool) {
	if k.countsPods {
		return v, false
	}
	var buffer [256]byte
	values := buffer[:0]
	for _, field := range k.fields.Node {
		value, ok := NodeValue(field, node)
		values = naming.AppendValue(values, value, ok)
	}
	number, ok := k.numbers.find(values)
	if !ok {
		return v, false
	}
	return k.verdict(abi.Filter, number)
}
