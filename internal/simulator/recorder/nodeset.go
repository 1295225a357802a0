package recorder

import (
	"iter"
	"math/bits"
)

// nodeSet is a set of nodes by their places in a universe: a list while it is
// small, a bitmap when that is smaller.
type nodeSet struct {
	list   []int32
	bitmap []uint64
}

// newNodeSet packs places, all less than size, in increasing order.
func newNodeSet(places []int32, size int) nodeSet {
	words := (size + 63) / 64
	if len(places)*4 <= words*8 {
		return nodeSet{list: append([]int32{}, places...)}
	}
	s := nodeSet{bitmap: make([]uint64, words)}
	for _, i := range places {
		s.bitmap[i/64] |= 1 << (i % 64)
	}
	return s
}

func (s nodeSet) bytes() int { return 4*cap(s.list) + 8*cap(s.bitmap) }

func (s nodeSet) len() int {
	n := len(s.list)
	for _, word := range s.bitmap {
		n += bits.OnesCount64(word)
	}
	return n
}

// all goes through the set in increasing order.
func (s nodeSet) all() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, i := range s.list {
			if !yield(i) {
				return
			}
		}
		for w, word := range s.bitmap {
			for ; word != 0; word &= word - 1 {
				if !yield(int32(w*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
