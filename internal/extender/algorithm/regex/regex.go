// Package regex is the algorithm that keeps the nodes whose names match the
// regex in the pod's annotation. It has no policy of its own: what the pattern
// may be, what it matches and how a mismatch reads is all in the project's
// regex package, which every other door into the scheduler uses too.
package regex

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func init() {
	algorithm.Register("regex", func() Config { return Config{Annotation: regex.Annotation} }, newMatcher)
}

// Config says where the pattern is.
type Config struct {
	// Annotation is the key of the pods' annotation.
	Annotation string `json:"annotation"`
}

// Validate refuses an empty key.
func (c Config) Validate() error {
	if c.Annotation == "" {
		return errors.New("annotation: must not be empty")
	}
	return nil
}

func newMatcher(config Config, _ algorithm.Env) (algorithm.Algorithm, error) {
	return &matcher{selectors: cache{policy: regex.Policy{Annotation: config.Annotation}}}, nil
}

type matcher struct{ selectors cache }

// Filter passes all nodes if the pod has no annotation. A pattern that is
// refused, or that costs too much work on these nodes, is an error.
func (m *matcher) Filter(_ context.Context, args *algorithm.Args) ([]*algorithm.Failure, error) {
	selector, err := m.selectors.get(args.Pod.Annotations)
	if err != nil {
		return nil, fmt.Errorf("pod %s: %w", &args.Pod, err)
	}
	if selector == nil {
		return nil, nil
	}
	cycle := selector.Begin()
	mismatch := &algorithm.Failure{Reason: selector.Mismatch(), Unresolvable: true}
	failures := make([]*algorithm.Failure, len(args.Names))
	var problem atomic.Value
	algorithm.Each(len(args.Names), func(from, to int) {
		if err := match(cycle, args.Names[from:to], failures[from:to], mismatch); err != nil {
			problem.Store(err)
		}
	})
	if err, failed := problem.Load().(error); failed {
		return nil, fmt.Errorf("pod %s: %w", &args.Pod, err)
	}
	return failures, nil
}

// match sets the failures of the names that do not match.
func match(cycle *regex.Cycle, names []string, failures []*algorithm.Failure, mismatch *algorithm.Failure) error {
	for i, name := range names {
		matches, err := cycle.Match(name)
		if err != nil {
			return err
		}
		if !matches {
			failures[i] = mismatch
		}
	}
	return nil
}

// Prioritize prefers no node: they all match, or they would not be asked about.
func (m *matcher) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	return algorithm.Equal(algorithm.MinScore, len(args.Names)), nil
}
