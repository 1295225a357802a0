package recorder

import (
	"cmp"
	"errors"
	"iter"
)

// Saved is an attempt for a file that has thousands: nodes are indexes into a list of names
// that all of a scheduler's attempts share. It lacks the verdicts of PreScore, and raw scores.
type Saved struct {
	Fields  fields   `json:"attempt"`
	Groups  []Group  `json:"groups,omitempty"`
	Scoring *scoring `json:"scoring,omitempty"`
}

// Save returns the attempt for a file, and extends names to the nodes that it needs. It
// returns nil for nil.
func (a *Attempt) Save(names *[]string) *Saved {
	if a == nil {
		return nil
	}
	for _, g := range a.Groups {
		if len(g.names) > len(*names) {
			*names = g.names
		}
	}
	s := &Saved{fields(*a), a.Groups, a.scoring}
	s.Fields.PreScore = nil
	return s
}

// Restore returns the attempt that was saved, or nil for nil, given all names.
func (s *Saved) Restore(names []string) (*Attempt, error) {
	if s == nil {
		return nil, nil
	}
	a := Attempt(s.Fields)
	a.Groups, a.scoring = s.Groups, cmp.Or(s.Scoring, &scoring{})
	sets := []*nodeSet{&a.scoring.nodeSet}
	for i := range a.Groups {
		sets = append(sets, &a.Groups[i].nodeSet)
	}
	for _, set := range sets {
		set.names = names
		if !set.Places.areOf(len(names)) {
			return nil, errors.New("an attempt has nodes that are not listed")
		}
	}
	if len(a.scoring.Columns) != len(a.ScoreColumns) {
		return nil, errors.New("an attempt lacks scores")
	}
	nodes := a.scoring.Places.count()
	for i, head := range a.ScoreColumns {
		column := &a.scoring.Columns[i]
		column.ScoreColumn = head
		if head.Extender && len(column.Given) != nodes || !head.Extender && len(column.Normalized) != nodes {
			return nil, errors.New("an attempt lacks scores of some nodes")
		}
	}
	return &a, nil
}

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

// areOf reports whether each place in the list is one of so many nodes.
func (p places) areOf(nodes int) bool {
	for at, one := range p {
		last := int(one)
		if one < 0 && at > 0 {
			last = int(p[at-1]) - int(one)
		}
		if last < 0 || last >= nodes || one < 0 && p[at-1] < 0 {
			return false
		}
	}
	return true
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
