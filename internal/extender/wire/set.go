package wire

import (
	"hash/maphash"
	"math/bits"
	"sync"
)

// set finds names that repeat. It is an open hash table of indices into one
// slice of names, at most half full; a map of strings takes twice the time.
type set struct {
	slots []uint32 // index + 1, or 0
}

var (
	seed   = maphash.MakeSeed()
	tables = sync.Pool{New: func() any { return new(set) }}
)

// newSet returns an empty set that takes up to n names.
func newSet(n int) *set {
	s := tables.Get().(*set)
	size := 1 << bits.Len(uint(2*n))
	if cap(s.slots) < size {
		s.slots = make([]uint32, size)
	}
	s.slots = s.slots[:size]
	clear(s.slots)
	return s
}

// release makes the memory available to others, but for a rare huge one.
func (s *set) release() {
	if cap(s.slots) <= 4*maxMemory {
		tables.Put(s)
	}
}

// add adds names[i] and reports whether no equal name was there before. It
// takes the same names every time.
func (s *set) add(names []string, i int) bool {
	mask := uint64(len(s.slots) - 1)
	for slot := maphash.String(seed, names[i]) & mask; ; slot = (slot + 1) & mask {
		switch other := s.slots[slot]; {
		case other == 0:
			s.slots[slot] = uint32(i + 1)
			return true
		case names[other-1] == names[i]:
			return false
		}
	}
}
