package regex

// set is a set of instructions, a bit each.
type set []uint64

func (s set) has(pc uint32) bool { return s[pc>>6]&(1<<(pc&63)) != 0 }

func (s set) add(pc uint32) { s[pc>>6] |= 1 << (pc & 63) }

func (s set) remove(pc uint32) { s[pc>>6] &^= 1 << (pc & 63) }

func (s set) clear() { clear(s) }

func (s set) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

func (s set) equal(t set) bool {
	for i, w := range s {
		if w != t[i] {
			return false
		}
	}
	return true
}

// hash mixes the members with a seed (the multiplier is FNV-1a's).
func (s set) hash(seed uint64) uint64 {
	h := seed ^ 0xcbf29ce484222325
	for _, w := range s {
		h = (h ^ w) * 0x100000001b3
		h ^= h >> 29
	}
	return h
}
