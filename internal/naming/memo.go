package naming

import (
	"container/list"
	"encoding/binary"
	"math/bits"
	"sync"
	"sync/atomic"
)

// Memo keeps what is known about pods by their kind, which is a key that its owner makes of the
// fields that it decides by. Of each kind it has which nodes qualify, and a Value of the owner.
//
// It is bounded in bytes: the kinds that were not used for longest give way. Any number of
// goroutines may use it.
type Memo[V any] struct {
	limit int64
	sized func(kinds int, bytes int64)

	mu    sync.Mutex
	kinds map[string]*list.Element // of *Kind[V]
	used  list.List                // the one that was used last is in front
	bytes int64
}

// Kind is what is known about pods of a kind.
type Kind[V any] struct {
	Value V

	memo    *Memo[V]
	key     string
	bytes   int64 // as the memo has counted them, with which these two are locked
	dropped bool
	named   atomic.Pointer[namedOf]
}

// namedOf has the number of the list, and not the list, so that it keeps no nodes that are gone.
type namedOf struct {
	list  int64
	named *Named
}

// NewMemo makes a Memo of at most limit bytes. It reports each change of its size with its lock held.
func NewMemo[V any](limit int64, sized func(kinds int, bytes int64)) *Memo[V] {
	return &Memo[V]{limit: limit, sized: sized, kinds: map[string]*list.Element{}}
}

// Get is what is known about a kind, or nil. It counts as used.
func (m *Memo[V]) Get(key []byte) *Kind[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.kinds[string(key)]
	if !ok {
		return nil
	}
	m.used.MoveToFront(known)
	return known.Value.(*Kind[V])
}

// Add adds a kind that takes so many bytes beside its key. It returns the one that is there, if
// there is one, and nil for a key that is too long to keep.
func (m *Memo[V]) Add(key []byte, value V, bytes int64) *Kind[V] {
	if int64(len(key)) > m.limit/4 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.kinds[string(key)]; ok {
		return known.Value.(*Kind[V])
	}
	k := &Kind[V]{Value: value, memo: m, key: string(key)}
	m.kinds[k.key] = m.used.PushFront(k)
	m.count(k, int64(len(key))+bytes)
	return k
}

// Clear drops all kinds.
func (m *Memo[V]) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.used.Len() > 0 {
		m.dropOldest()
	}
	m.sized(0, 0)
}

// Grew counts what a kind takes more. One that was dropped counts for nothing.
func (k *Kind[V]) Grew(bytes int64) {
	k.memo.mu.Lock()
	defer k.memo.mu.Unlock()
	k.memo.count(k, bytes)
}

// count is Grew with the memo locked.
func (m *Memo[V]) count(k *Kind[V], bytes int64) {
	if k.dropped {
		return
	}
	k.bytes += bytes
	m.bytes += bytes
	for m.bytes > m.limit && m.used.Len() > 0 { // k itself may give way, too
		m.dropOldest()
	}
	m.sized(len(m.kinds), m.bytes)
}

func (m *Memo[V]) dropOldest() {
	oldest := m.used.Remove(m.used.Back()).(*Kind[V])
	delete(m.kinds, oldest.key)
	oldest.dropped = true
	m.bytes -= oldest.bytes
}

// Named is which nodes of a list qualify, or nil where that is not known. Lists have numbers, which
// the owner of the memo gives them.
func (k *Kind[V]) Named(list int64) *Named {
	known := k.named.Load()
	if known == nil || known.list != list {
		return nil
	}
	return known.named
}

// SetNamed keeps which nodes of a list qualify, in place of what was known of another list.
func (k *Kind[V]) SetNamed(list int64, n *Named) {
	before := k.named.Swap(&namedOf{list, n})
	bytes := n.bytes()
	if before != nil {
		bytes -= before.named.bytes()
	}
	k.Grew(bytes)
}

// bytes is about what the words and the set take. The text of the names is the nodes'.
func (n *Named) bytes() int64 {
	bytes := int64(len(n.Rejected))
	if n.Result != nil {
		bytes += SetBytes(len(n.Result.NodeNames))
	}
	return bytes
}

// slotBytes is a name in a set, what Go adds for the value that has no size, a byte of control,
// and what the allocator rounds up.
const slotBytes = 16 + 8 + 1 + 2

// SetBytes is about what a set of so many names takes beside their text: Go's maps have a power
// of two of slots, at most 7/8 of which are taken.
func SetBytes(names int) int64 { return slotBytes << bits.Len(uint(names*8/7)) }

// AppendValue appends the value of a field to a key, so that no two differing lists of values make
// the same key: a length in front, which is 0 for a field that is not there.
func AppendValue(key []byte, value string, ok bool) []byte {
	if !ok {
		return append(key, 0)
	}
	key = binary.AppendUvarint(key, uint64(len(value))+1)
	return append(key, value...)
}
