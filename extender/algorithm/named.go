package algorithm

import (
	"context"
	"fmt"
)

// Named is an algorithm with its name. It checks that the algorithm answers for every
// node, with scores in range.
type Named struct {
	Name string
	Algorithm
}

// Filter implements Algorithm.
func (n Named) Filter(ctx context.Context, args *Args) ([]*Failure, error) {
	failures, err := n.Algorithm.Filter(ctx, args)
	if err == nil && failures != nil && len(failures) != len(args.Names) {
		return nil, fmt.Errorf("algorithm %s answered for %d of %d nodes: this is a mistake in the algorithm", n.Name, len(failures), len(args.Names))
	}
	return failures, err
}

// Prioritize implements Algorithm.
func (n Named) Prioritize(ctx context.Context, args *Args) ([]int64, error) {
	scores, err := n.Algorithm.Prioritize(ctx, args)
	if err != nil {
		return nil, fmt.Errorf("algorithm %s: %w", n.Name, err)
	}
	if len(scores) != len(args.Names) {
		return nil, fmt.Errorf("algorithm %s scored %d of %d nodes: this is a mistake in the algorithm", n.Name, len(scores), len(args.Names))
	}
	for i, score := range scores {
		if score < MinScore || score > MaxScore {
			return nil, fmt.Errorf("algorithm %s gave node %s the score %d, outside %d to %d: this is a mistake in the algorithm",
				n.Name, args.Names[i], score, MinScore, MaxScore)
		}
	}
	return scores, nil
}
