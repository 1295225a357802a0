package recorder

import (
	"cmp"
	"errors"
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
		for _, place := range set.Places.all() {
			if int(place) >= len(names) {
				return nil, errors.New("an attempt has nodes that are not listed")
			}
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
