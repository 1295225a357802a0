package recorder

import (
	"encoding/json"
	"errors"
	"iter"
	"slices"
)

// places is a list of nodes, run-length encoded: -n after a place stands for the n places that
// follow it. In a large cluster most nodes are not evaluated for a pod, and are neighbours.
type places []int32

// add appends one.
func (p *places) add(place int32) {
	last := len(*p) - 1
	switch {
	case last >= 0 && (*p)[last] < 0 && (*p)[last-1]-(*p)[last]+1 == place:
		(*p)[last]--
	case last >= 0 && (*p)[last]+1 == place && (*p)[last] >= 0:
		*p = append(*p, -1)
	default:
		*p = append(*p, place)
	}
}

// all yields the places with their indexes in the list.
func (p places) all() iter.Seq2[int, int32] {
	return func(yield func(int, int32) bool) {
		i := 0
		for at, one := range p {
			first, count := one, int32(1)
			if one < 0 {
				first, count = p[at-1]+1, -one
			}
			for more := range count {
				if !yield(i, first+more) {
					return
				}
				i++
			}
		}
	}
}

// count is the length of the list.
func (p places) count() (n int) {
	for _, one := range p {
		n++
		if one < 0 {
			n -= int(one) + 1
		}
	}
	return n
}

// MarshalJSON writes each place.
func (p places) MarshalJSON() ([]byte, error) {
	each := make([]int32, 0, len(p))
	for _, place := range p.all() {
		each = append(each, place)
	}
	return json.Marshal(each)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (p *places) UnmarshalJSON(text []byte) error {
	var each []int32
	if err := json.Unmarshal(text, &each); err != nil {
		return err
	}
	*p = nil
	for _, place := range each {
		if place < 0 {
			return errors.New("the place of a node is negative")
		}
		p.add(place)
	}
	*p = slices.Clip(*p)
	return nil
}
