package wire

import "hash/maphash"

// set finds names that repeat. It is an open hash table of indices into one
// slice of names, at most half full; a map of strings takes twice the time.
type set struct {
	seed  maphash.Seed
	slots []uint32 // index + 1, or 0
}

// add adds names[i] and reports whether no equal name was there before. It
// takes the same names every time.
func (s *set) add(names []string, i int) bool {
	if s.slots == nil {
		size := 2
		for size < 2*len(names) {
			size *= 2
		}
		s.slots, s.seed = make([]uint32, size), maphash.MakeSeed()
	}
	mask := uint64(len(s.slots) - 1)
	for slot := maphash.String(s.seed, names[i]) & mask; ; slot = (slot + 1) & mask {
		switch other := s.slots[slot]; {
		case other == 0:
			s.slots[slot] = uint32(i + 1)
			return true
		case names[other-1] == names[i]:
			return false
		}
	}
}
