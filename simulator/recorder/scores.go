package recorder

import (
	"cmp"
	"slices"
	"strings"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kube-scheduler/framework"
)

// scoring is what was said of the nodes that were left to choose from.
type scoring struct {
	nodes   nodeSet // in increasing order
	columns []scores
}

// scores are a column's, in the order of the nodes.
type scores struct {
	ScoreColumn
	raw, normalized values
}

// newScoring packs the scores of the plugins.
func (s *session) newScoring(c *cycle, list []framework.NodeInfo, result []framework.NodePluginScores) *scoring {
	places, order := s.inOrder(list)
	packed := &scoring{nodes: newNodeSet(places, s.nodes.names)}
	if len(result) == 0 {
		return packed
	}
	numbers := make([]int64, len(order))
	for column, score := range result[0].Scores {
		weight := max(c.rec.profile.weights[score.Name], 1)
		for i, from := range order {
			numbers[i] = result[from].Scores[column].Score / weight
		}
		one := scores{ScoreColumn: ScoreColumn{Name: score.Name, Weight: weight}, normalized: newValues(numbers)}
		if one.raw = one.normalized; c.raw[score.Name] != nil {
			for i, from := range order {
				numbers[i] = c.raw[score.Name][from]
			}
			one.raw = newValues(numbers)
		}
		packed.columns = append(packed.columns, one)
	}
	return packed
}

// inOrder are the places of nodes in increasing order, and where in the list each
// of them is.
func (s *session) inOrder(list []framework.NodeInfo) (places []int32, order []int) {
	at := make([]int, len(s.nodes.names)) // from 1
	for i, node := range list {
		if place, ok := s.nodes.find(node); ok {
			at[place] = i + 1
		}
	}
	places, order = make([]int32, 0, len(list)), make([]int, 0, len(list))
	for place, i := range at {
		if i > 0 {
			places, order = append(places, int32(place)), append(order, i-1)
		}
	}
	return places, order
}

// perPriority is what the scheduler makes of a point from an extender.
const perPriority = framework.MaxScore / extenderv1.MaxExtenderPriority

// add packs the scores of an extender.
func (s *scoring) add(name string, weight int64, list extenderv1.HostPriorityList) {
	given := make(map[string]int64, len(list))
	for _, priority := range list {
		given[priority.Host] = priority.Score
	}
	var raw, normalized []int64
	for place := range s.nodes.all() {
		score := given[s.nodes.names[place]]
		raw, normalized = append(raw, score), append(normalized, score*perPriority)
	}
	s.columns = append(s.columns, scores{ScoreColumn{Name: name, Extender: true, Weight: weight}, newValues(raw), newValues(normalized)})
}

// heads are the columns without their numbers.
func (s *scoring) heads() []ScoreColumn {
	heads := []ScoreColumn{}
	if s != nil {
		for _, c := range s.columns {
			heads = append(heads, c.ScoreColumn)
		}
	}
	return heads
}

// rows returns the best first.
func (s *scoring) rows() []NodeScore {
	rows := []NodeScore{}
	if s == nil {
		return rows
	}
	for place := range s.nodes.all() {
		row := NodeScore{Node: s.nodes.names[place], Cells: make([]Score, len(s.columns))}
		for j, c := range s.columns {
			normalized := c.normalized.at(len(rows))
			row.Cells[j] = Score{Raw: c.raw.at(len(rows)), Normalized: normalized, Weighted: normalized * c.Weight}
			row.Total += row.Cells[j].Weighted
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b NodeScore) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Node, b.Node))
	})
	return rows
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
