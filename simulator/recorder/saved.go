package recorder

import (
	"errors"
	"slices"
)

// Saved is an attempt for a file that has thousands: nodes are places in a list of names
// that all of a scheduler's attempts share. It lacks what PreScore plugins said.
type Saved struct {
	Fields  fields       `json:"attempt"`
	Groups  []savedGroup `json:"groups,omitempty"`
	Scored  []int32      `json:"scored,omitempty"` // the nodes
	Columns []savedScore `json:"scores,omitempty"` // for each of ScoreColumns
}

type savedGroup struct {
	Group
	Nodes []int32
}

type savedScore struct {
	Raw        []int64 `json:"raw,omitempty"` // an extender's alone
	Normalized []uint8 `json:"normalized,omitempty"`
}

// Save returns the attempt for a file, and as many names of nodes as it needs.
func (a *Attempt) Save() (s *Saved, names []string) {
	s = &Saved{Fields: fields(*a)}
	s.Fields.PreScore = nil
	for _, g := range a.Groups {
		s.Groups, names = append(s.Groups, savedGroup{g, g.nodes.places}), g.nodes.names
	}
	if a.scoring == nil {
		return s, names
	}
	s.Scored = a.scoring.nodes.places
	for _, column := range a.scoring.columns {
		one := savedScore{Normalized: column.normalized}
		if column.Extender {
			one.Raw = column.raw
		}
		s.Columns = append(s.Columns, one)
	}
	return s, names
}

// Restore returns the attempt that was saved, given the longest list of names.
func (s *Saved) Restore(names []string) (*Attempt, error) {
	a, places := Attempt(s.Fields), slices.Clone(s.Scored)
	for _, g := range s.Groups {
		g.nodes = nodeSet{names, g.Nodes}
		a.Groups, places = append(a.Groups, g.Group), append(places, g.Nodes...)
	}
	if len(places) > 0 && (slices.Min(places) < 0 || int(slices.Max(places)) >= len(names)) || len(s.Columns) != len(a.ScoreColumns) {
		return nil, errors.New("an attempt has nodes or scores that are not listed")
	}
	a.scoring = &scoring{nodes: nodeSet{names, s.Scored}}
	for i, column := range s.Columns {
		count := len(column.Normalized)
		if a.ScoreColumns[i].Extender {
			count = len(column.Raw)
		}
		if count != len(s.Scored) {
			return nil, errors.New("an attempt lacks scores of some nodes")
		}
		a.scoring.columns = append(a.scoring.columns, scores{a.ScoreColumns[i], column.Raw, column.Normalized})
	}
	return &a, nil
}
