// Package nop is the algorithm that changes nothing: every node passes and all
// scores are equal. It shows that an extender is reached at all, and what
// being asked costs; it is also the shortest example of an algorithm. The package is no API.
package nop

import (
	"context"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// Default is the only config.
func Default() algorithm.Config { return &Config{} }

// Config has nothing to set.
type Config struct{}

// Validate finds nothing wrong.
func (Config) Validate() error { return nil }

// New implements algorithm.Config.
func (Config) New(logr.Logger) (algorithm.Algorithm, error) { return nop{}, nil }

type nop struct{}

func (nop) Filter(context.Context, *algorithm.Args) ([]*algorithm.Failure, error) { return nil, nil }

func (nop) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	return algorithm.Equal(algorithm.MinScore, len(args.Names)), nil
}
