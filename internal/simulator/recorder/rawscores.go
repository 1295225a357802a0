package recorder

import (
	"context"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
)

// rawScores learns the scores before they are normalized, which the framework
// itself tells nobody.
type rawScores struct{ current atomic.Pointer[raw] }

// begin starts a new round.
func (r *rawScores) begin() *raw {
	scores := &raw{byPlugin: map[string][]int64{}}
	r.current.Store(scores)
	return scores
}

// watchNormalizing puts an observer before each NormalizeScore of a profile.
// Without the private field the raw scores are shown as the normalized ones.
func watchNormalizing(fwk schedframework.Framework) *rawScores {
	scores := &rawScores{}
	plugins := private[[]framework.ScorePlugin](fwk, "scorePlugins")
	if plugins == nil {
		return scores
	}
	for i, plugin := range *plugins {
		if plugin.ScoreExtensions() != nil {
			(*plugins)[i] = watchedScore{plugin, scores}
		}
	}
	return scores
}

type watchedScore struct {
	framework.ScorePlugin
	scores *rawScores
}

func (w watchedScore) ScoreExtensions() framework.ScoreExtensions {
	next := w.ScorePlugin.ScoreExtensions()
	if next == nil {
		return nil
	}
	return watchedNormalize{next, w}
}

type watchedNormalize struct {
	framework.ScoreExtensions
	of watchedScore
}

func (w watchedNormalize) NormalizeScore(ctx context.Context, state framework.CycleState, pod *v1.Pod, list framework.NodeScoreList) *framework.Status {
	if scores := w.of.scores.current.Load(); scores != nil {
		scores.add(w.of.Name(), list)
	}
	return w.ScoreExtensions.NormalizeScore(ctx, state, pod, list)
}

func (r *raw) add(plugin string, list framework.NodeScoreList) {
	numbers := make([]int64, len(list))
	for i, score := range list {
		numbers[i] = score.Score
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byPlugin[plugin] = numbers
}

// newScoring packs the scores of the plugins.
func (s *session) newScoring(l *layout, nodes []framework.NodeInfo, result []framework.NodePluginScores, raw *raw) *scoring {
	packed := &scoring{nodes: make([]int32, len(nodes))}
	for i, node := range nodes {
		packed.nodes[i], _ = s.nodes.find(node)
	}
	if len(result) == 0 {
		return packed
	}
	numbers := make([]int64, len(result))
	for column, score := range result[0].Scores {
		weight := max(l.weights[score.Name], 1)
		for i := range result {
			numbers[i] = result[i].Scores[column].Score / weight
		}
		c := scores{
			ScoreColumn: ScoreColumn{Name: score.Name, Weight: weight},
			normalized:  newValues(numbers), scale: weight,
		}
		if c.raw = c.normalized; raw.byPlugin[score.Name] != nil {
			c.raw = newValues(raw.byPlugin[score.Name])
		}
		packed.scores = append(packed.scores, c)
	}
	return packed
}
