package recorder

import (
	"cmp"
	"slices"
	"strings"
)

// scoring is what was said of the nodes that were left to choose from.
type scoring struct {
	nodes  []int32 // by their places in the universe
	scores []scores
}

// scores are a column's.
type scores struct {
	ScoreColumn
	raw, normalized values
	scale           int64 // weighted is normalized times this
}

func (s *scoring) columns() []ScoreColumn {
	columns := make([]ScoreColumn, len(s.scores))
	for i, c := range s.scores {
		columns[i] = c.ScoreColumn
	}
	return columns
}

// rows returns the best first.
func (s *scoring) rows(names []string) []NodeScore {
	rows := make([]NodeScore, len(s.nodes))
	for i, place := range s.nodes {
		rows[i] = NodeScore{Node: names[place], Cells: make([]Score, len(s.scores))}
		for j, c := range s.scores {
			score := Score{Raw: c.raw.at(i), Normalized: c.normalized.at(i), Weighted: c.normalized.at(i) * c.scale}
			rows[i].Cells[j] = score
			rows[i].Total += score.Weighted
		}
	}
	slices.SortFunc(rows, func(a, b NodeScore) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Node, b.Node))
	})
	return rows
}

func (s *scoring) bytes() int {
	if s == nil {
		return 0
	}
	n := 4 * cap(s.nodes)
	for _, c := range s.scores {
		n += 160 + c.raw.bytes() + c.normalized.bytes()
	}
	return n
}

// values are numbers, packed: most columns hold one number for all nodes, or
// numbers from 0 to 100.
type values struct {
	same  int64
	small []uint8
	large []int64
}

func newValues(numbers []int64) values {
	if len(numbers) == 0 {
		return values{}
	}
	low, high := slices.Min(numbers), slices.Max(numbers)
	switch {
	case low == high:
		return values{same: low}
	case low < 0 || high > 255:
		return values{large: slices.Clone(numbers)}
	}
	v := values{small: make([]uint8, len(numbers))}
	for i, n := range numbers {
		v.small[i] = uint8(n)
	}
	return v
}

func (v values) at(i int) int64 {
	switch {
	case v.small != nil:
		return int64(v.small[i])
	case v.large != nil:
		return v.large[i]
	}
	return v.same
}

func (v values) bytes() int { return cap(v.small) + 8*cap(v.large) }
