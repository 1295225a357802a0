package recorder

import (
	"cmp"
	"slices"
	"strings"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kube-scheduler/framework"
)

// scoring are the scores of the nodes that passed.
type scoring struct {
	nodeSet
	Columns []scores `json:"columns"`
}

// scores are a column's, in the order of the nodes.
type scores struct {
	ScoreColumn `json:"-"`
	raw         []int64 // nil: as normalized
	Normalized  []uint8 `json:"normalized,omitempty"` // from 0 to 100
	Given       []int64 `json:"given,omitempty"`      // by an extender, whose scores are not bounded, instead of Normalized
}

// maxScore is the framework's, whose name for it depends on the minor of Kubernetes.
const maxScore = 100

// perPriority is the scheduler's factor for scores of extenders.
const perPriority = maxScore / extenderv1.MaxExtenderPriority

func (s scores) at(i int) (score Score) {
	switch {
	case s.Extender:
		score.Raw, score.Normalized = s.Given[i], s.Given[i]*perPriority
	case s.raw == nil:
		score.Raw, score.Normalized = int64(s.Normalized[i]), int64(s.Normalized[i])
	default:
		score.Raw, score.Normalized = s.raw[i], int64(s.Normalized[i])
	}
	score.Weighted = score.Normalized * s.Weight
	return score
}

func (s *session) newScoring(c *cycle, list []framework.NodeInfo, result []framework.NodePluginScores) *scoring {
	if s.recorder.sparse {
		list, result = best(list, result)
	}
	all := &scoring{}
	for _, node := range list {
		all.Places.add(s.nodes.place(node))
	}
	all.names = s.nodes.names
	all.Places = slices.Clone(all.Places) // without spare capacity
	if len(result) == 0 {
		return all
	}
	for column, score := range result[0].Scores {
		weight := max(c.rec.profile.weights[score.Name], 1)
		normalized := make([]uint8, len(list))
		for i := range list {
			normalized[i] = uint8(result[i].Scores[column].Score / weight)
		}
		all.Columns = append(all.Columns, scores{ScoreColumn: ScoreColumn{Name: score.Name, Weight: weight}, raw: c.raw[score.Name], Normalized: normalized})
	}
	return all
}

// bestScores is how many nodes have scores in a sparse recorder.
const bestScores = 5

// best are the nodes with the highest scores, without those of extenders, which come later.
func best(list []framework.NodeInfo, result []framework.NodePluginScores) (nodes []framework.NodeInfo, scores []framework.NodePluginScores) {
	var order []int
	for i := range result {
		at, _ := slices.BinarySearchFunc(order, i, func(a, b int) int {
			return cmp.Or(cmp.Compare(result[b].TotalScore, result[a].TotalScore), cmp.Compare(a, b))
		})
		if at < bestScores {
			order = slices.Insert(order, at, i)[:min(len(order)+1, bestScores)]
		}
	}
	for _, i := range order {
		nodes, scores = append(nodes, list[i]), append(scores, result[i])
	}
	return nodes, scores
}

func (s *scoring) add(name string, weight int64, list extenderv1.HostPriorityList) {
	given := make(map[string]int64, len(list))
	for _, priority := range list {
		given[priority.Host] = priority.Score
	}
	inOrder := make([]int64, s.Places.count())
	for i, place := range s.Places.all() {
		inOrder[i] = given[s.names[place]]
	}
	s.Columns = append(s.Columns, scores{ScoreColumn: ScoreColumn{Name: name, Extender: true, Weight: weight}, Given: inOrder})
}

// heads are the columns without their numbers.
func (s *scoring) heads() []ScoreColumn {
	heads := []ScoreColumn{}
	if s != nil {
		for _, c := range s.Columns {
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
	rows := make([]NodeScore, s.Places.count())
	for i, place := range s.Places.all() {
		row := &rows[i]
		row.Node = s.names[place]
		row.Cells = make([]Score, len(s.Columns))
		for j, column := range s.Columns {
			row.Cells[j] = column.at(i)
			row.Total += row.Cells[j].Weighted
		}
	}
	slices.SortFunc(rows, func(a, b NodeScore) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Node, b.Node))
	})
	return rows
}
