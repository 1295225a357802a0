package algorithm

import (
	"context"
	"fmt"
	"strings"
)

// A Link is an algorithm in a chain.
type Link struct {
	Name      string // for people, as the config has it
	Algorithm Algorithm
	// Weight is how much its scores count in the mean. At least 1.
	Weight int64
}

// A Chain asks algorithms in turn, at least one. It is an Algorithm itself, and checks
// that each answers for every node, with scores in range.
type Chain []Link

// String is the names, joined by commas.
func (c Chain) String() string {
	names := make([]string, len(c))
	for i, link := range c {
		names[i] = link.Name
	}
	return strings.Join(names, ",")
}

// Filter lets every link see only the nodes that passed those before it, and
// stops at the first error.
func (c Chain) Filter(ctx context.Context, args *Args) ([]*Failure, error) {
	first, others := c[0], c[1:]
	failures, err := first.Algorithm.Filter(ctx, args)
	switch {
	case err != nil:
		return nil, err
	case failures != nil && len(failures) != len(args.Names):
		return nil, fmt.Errorf("algorithm %s answered for %d of %d nodes: this is a mistake in the algorithm", first.Name, len(failures), len(args.Names))
	case len(others) == 0:
		return failures, nil
	case failures == nil:
		return others.Filter(ctx, args)
	}
	left, indices := &Args{Pod: args.Pod}, make([]int, 0, len(failures))
	for i, failure := range failures {
		if failure == nil {
			left.Names, indices = append(left.Names, args.Names[i]), append(indices, i)
		}
	}
	more, err := others.Filter(ctx, left)
	for i, failure := range more {
		failures[indices[i]] = failure
	}
	return failures, err
}

// Prioritize returns the weighted mean of the links' scores, rounded to the
// nearest. An error of one is an error of all.
func (c Chain) Prioritize(ctx context.Context, args *Args) ([]int64, error) {
	sums, weights := make([]int64, len(args.Names)), int64(0)
	for _, link := range c {
		scores, err := link.prioritize(ctx, args)
		if err != nil {
			return nil, err
		}
		for i, score := range scores {
			sums[i] += score * link.Weight
		}
		weights += link.Weight
	}
	for i := range sums {
		sums[i] = (2*sums[i] + weights) / (2 * weights)
	}
	return sums, nil
}

func (l *Link) prioritize(ctx context.Context, args *Args) ([]int64, error) {
	scores, err := l.Algorithm.Prioritize(ctx, args)
	if err != nil {
		return nil, fmt.Errorf("algorithm %s: %w", l.Name, err)
	}
	if len(scores) != len(args.Names) {
		return nil, fmt.Errorf("algorithm %s scored %d of %d nodes: this is a mistake in the algorithm", l.Name, len(scores), len(args.Names))
	}
	for i, score := range scores {
		if score < MinScore || score > MaxScore {
			return nil, fmt.Errorf("algorithm %s gave node %s the score %d, outside %d to %d: this is a mistake in the algorithm",
				l.Name, args.Names[i], score, MinScore, MaxScore)
		}
	}
	return scores, nil
}
