// Package lucky is the algorithm that decides at random: a node passes with a certain
// probability and gets a random score. It is for demonstrations and experiments, and
// not a source of randomness for anything else.
package lucky

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// Default lets half of the nodes pass.
func Default() Config { return Config{Pass: 0.5} }

// Config says how lucky nodes are.
type Config struct {
	// Pass is the probability with which a node passes the filter, 0 to 1.
	Pass float64 `json:"pass"`
	// Seed makes the answers repeatable: the same requests in the same order
	// get the same answers. 0 takes a new seed at every start.
	Seed uint64 `json:"seed"`
}

// Validate checks the range.
func (c Config) Validate() error {
	if !(c.Pass >= 0 && c.Pass <= 1) {
		return errors.New("pass: must be from 0 to 1")
	}
	return nil
}

// New makes the algorithm.
func New(c Config) algorithm.Algorithm {
	c.Seed = cmp.Or(c.Seed, rand.Uint64())
	return &lucky{Config: c}
}

type lucky struct {
	Config
	requests atomic.Uint64
}

// random is the source for one request.
func (l *lucky) random() *rand.Rand { return rand.New(rand.NewPCG(l.Seed, l.requests.Add(1))) }

// One reason for all, so that the scheduler can add them up.
var unlucky = &algorithm.Failure{Reason: "node(s) were out of luck"}

func (l *lucky) Filter(_ context.Context, args *algorithm.Args) ([]*algorithm.Failure, error) {
	random := l.random()
	failures := make([]*algorithm.Failure, len(args.Names))
	for i := range failures {
		if random.Float64() >= l.Pass {
			failures[i] = unlucky
		}
	}
	return failures, nil
}

func (l *lucky) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	random := l.random()
	scores := make([]int64, len(args.Names))
	for i := range scores {
		scores[i] = algorithm.MinScore + random.Int64N(algorithm.MaxScore-algorithm.MinScore+1)
	}
	return scores, nil
}
