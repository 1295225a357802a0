// Package nop is the algorithm that changes nothing: every node passes and all
// scores are equal. It shows that the scheduler reaches the extender, and what a
// request costs. It is also the shortest example of an algorithm.
package nop

import (
	"context"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// New makes the algorithm.
func New() algorithm.Algorithm { return nop{} }

type nop struct{}

func (nop) Filter(context.Context, *algorithm.Args) ([]*algorithm.Failure, error) { return nil, nil }

func (nop) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	return algorithm.Equal(algorithm.MinScore, len(args.Names)), nil
}
