// Package answers remembers what a guest has answered that declares the fields it decides by.
// PreFilter's answers are remembered by the values of the pod's fields, those of Filter and Score
// by these and the values of the node's fields. It calls no guest, and does not know what an
// answer means.
//
// No answer can be stale, as long as the guest is shown nothing else than those fields.
package answers

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// Store holds the answers of a guest.
type Store struct {
	fields     *abi.Fields
	countsPods bool                  // a node's fields change with the pods on it
	memo       *naming.Memo[*record] // by the values of the pod's fields

	mu      sync.Mutex
	closed  bool
	numbers *numbering
	nodes   *nodes // of the last cycle
}

// New makes a Store of at most limit bytes. It reports each change of its size, one at a time.
func New(fields *abi.Fields, limit int64, sized func(entries int, bytes int64)) *Store {
	s := &Store{fields: fields, countsPods: fields.DependOnPods(), memo: naming.NewMemo[*record](limit, sized), nodes: &nodes{}}
	s.clear()
	return s
}

// clear drops all answers. The store must be locked.
func (s *Store) clear() {
	s.memo.Clear()
	s.numbers = &numbering{ids: map[string]Node{}}
	s.nodes = &nodes{version: s.nodes.version}
}

// Close drops all answers for good.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.clear()
}

// Of finds the kind of a pod, on the nodes of its cycle. It is nil where nothing is remembered: the store is nil or closed, or the
// values of the fields are too long.
func (s *Store) Of(pod *v1.Pod, list []fwk.NodeInfo) *Kind {
	if s == nil {
		return nil
	}
	var buffer [256]byte
	key := appendPod(buffer[:0], s.fields.Pod, pod)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	numbers, bytes := s.numbers.size()
	if numbers > 2*len(list)+maxGone || bytes > 2*s.nodes.bytes+maxGoneBytes {
		s.clear()
	}
	s.renew(list)
	kind := s.memo.Get(key)
	again := kind != nil
	if !again {
		kind = s.memo.Add(key, &record{numbers: s.numbers, indexes: map[verdictKey]uint16{}}, entryBytes)
	}
	if kind == nil {
		return nil
	}
	return &Kind{Again: again, kind: kind, record: kind.Value, fields: s.fields, countsPods: s.countsPods, nodes: s.nodes}
}

// Peek finds the kind of a pod, without the nodes of a cycle: only [Kind.Answer] of a hook about a pod and
// [Kind.Filter] may be called of it. It is nil where nothing is remembered.
func (s *Store) Peek(pod *v1.Pod) *Kind {
	var buffer [256]byte
	kind := s.memo.Get(appendPod(buffer[:0], s.fields.Pod, pod))
	if kind == nil {
		return nil
	}
	return &Kind{kind: kind, record: kind.Value, fields: s.fields, countsPods: s.countsPods}
}
