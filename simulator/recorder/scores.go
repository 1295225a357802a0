package recorder

import (
	"cmp"
	"slices"
	"strings"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kube-scheduler/framework"
)

// scoring are the scores of the nodes that were left to choose from.
type scoring struct {
	nodes   nodeSet
	columns []scores
}

// scores are a column's, in the order of the nodes.
type scores struct {
	ScoreColumn
	raw        []int64 // nil: as normalized
	normalized []uint8 // from 0 to 100; nil for an extender, whose scores nobody bounds
}

// maxScore is the framework's, whose name for it depends on the minor of Kubernetes.
const maxScore = 100

// perPriority is what the scheduler makes of a point from an extender.
const perPriority = maxScore / extenderv1.MaxExtenderPriority

func (s scores) at(i int) (score Score) {
	switch {
	case s.Extender:
		score.Raw, score.Normalized = s.raw[i], s.raw[i]*perPriority
	case s.raw == nil:
		score.Raw, score.Normalized = int64(s.normalized[i]), int64(s.normalized[i])
	default:
		score.Raw, score.Normalized = s.raw[i], int64(s.normalized[i])
	}
	score.Weighted = score.Normalized * s.Weight
	return score
}

func (s *session) newScoring(c *cycle, list []framework.NodeInfo, result []framework.NodePluginScores) *scoring {
	all := &scoring{nodes: nodeSet{s.nodes.names, make([]int32, len(list))}}
	for i, node := range list {
		all.nodes.places[i], _ = s.nodes.find(node) // each of them was filtered
	}
	if len(result) == 0 {
		return all
	}
	for column, score := range result[0].Scores {
		weight := max(c.rec.profile.weights[score.Name], 1)
		normalized := make([]uint8, len(list))
		for i := range list {
			normalized[i] = uint8(result[i].Scores[column].Score / weight)
		}
		all.columns = append(all.columns, scores{ScoreColumn{Name: score.Name, Weight: weight}, c.raw[score.Name], normalized})
	}
	return all
}

func (s *scoring) add(name string, weight int64, list extenderv1.HostPriorityList) {
	given := make(map[string]int64, len(list))
	for _, priority := range list {
		given[priority.Host] = priority.Score
	}
	raw := make([]int64, len(s.nodes.places))
	for i, place := range s.nodes.places {
		raw[i] = given[s.nodes.names[place]]
	}
	s.columns = append(s.columns, scores{ScoreColumn: ScoreColumn{Name: name, Extender: true, Weight: weight}, raw: raw})
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
	if s == nil {
		return []NodeScore{}
	}
	rows := make([]NodeScore, len(s.nodes.places))
	for i, place := range s.nodes.places {
		row := &rows[i]
		row.Node = s.nodes.names[place]
		row.Cells = make([]Score, len(s.columns))
		for j, column := range s.columns {
			row.Cells[j] = column.at(i)
			row.Total += row.Cells[j].Weighted
		}
	}
	slices.SortFunc(rows, func(a, b NodeScore) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Node, b.Node))
	})
	return rows
}
