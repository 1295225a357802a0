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

// A Chain asks several algorithms in turn. It is an Algorithm itself, and checks
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
	var all []*Failure // nil as long as all pass
	var indices []int  // of the nodes that are left, nil for all of them
	left := args
	for k, link := range c {
		failures, err := link.Algorithm.Filter(ctx, left)
		switch {
		case err != nil:
			return nil, err
		case failures == nil:
			continue
		case len(failures) != len(left.Names):
			return nil, fmt.Errorf("algorithm %s answered for %d of %d nodes: this is a mistake in the algorithm", link.Name, len(failures), len(left.Names))
		case indices == nil:
			all = failures
		}
		for i, index := range indices {
			all[index] = failures[i]
		}
		if k+1 < len(c) {
			left, indices = passing(args, all)
		}
	}
	return all, nil
}

// passing is the request with just the nodes without a failure, and their indices.
func passing(args *Args, failures []*Failure) (*Args, []int) {
	left, indices := &Args{Pod: args.Pod}, make([]int, 0, len(failures))
	for i, failure := range failures {
		if failure == nil {
			indices = append(indices, i)
			left.Names = append(left.Names, args.Names[i])
		}
	}
	return left, indices
}

// Prioritize returns the weighted mean of the links' scores, rounded to the
// nearest. An error of one is an error of all.
func (c Chain) Prioritize(ctx context.Context, args *Args) ([]int64, error) {
	var sums []int64
	var weights int64
	for _, link := range c {
		scores, err := link.prioritize(ctx, args)
		if err != nil {
			return nil, err
		}
		if len(c) == 1 {
			return scores, nil
		}
		if sums == nil {
			sums = make([]int64, len(scores))
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
