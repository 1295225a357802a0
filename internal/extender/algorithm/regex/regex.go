// Package regex is the algorithm that keeps the nodes whose names match the
// regex in the pod's annotation. It has no policy of its own: what the pattern
// may be, what it matches and how a mismatch reads is all in the project's
// regex package, which every other door into the scheduler uses too.
package regex

import (
	"context"
	"slices"

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

// Validate refuses a key that no annotation can have.
func (c Config) Validate() error { return regex.Policy{Annotation: c.Annotation}.Validate() }

func newMatcher(config Config, _ algorithm.Env) (algorithm.Algorithm, error) {
	policy := regex.Policy{Annotation: config.Annotation}
	return &matcher{selectors: regex.NewCache(policy, cacheBytes)}, nil
}

// cacheBytes bounds the memory that compiled patterns take.
const cacheBytes = 16 << 20

type matcher struct{ selectors *regex.Cache }

// Filter passes all nodes if the pod has no annotation. A pattern that is
// refused fails all of them: an error would be tried again and again, or skipped where the scheduler's
// configuration says that this extender is ignorable.
func (m *matcher) Filter(_ context.Context, args *algorithm.Args) ([]*algorithm.Failure, error) {
	selector, err := m.selectors.Selector(args.Pod.Annotations)
	if err != nil {
		return refuse(err, len(args.Names)), nil
	}
	if selector == nil {
		return nil, nil
	}
	mismatch := &algorithm.Failure{Reason: selector.Mismatch(), Unresolvable: true}
	failures := make([]*algorithm.Failure, len(args.Names))
	for i, name := range args.Names {
		if !selector.Match(name) {
			failures[i] = mismatch
		}
	}
	return failures, nil
}

// refuse fails each of n nodes because of the pattern.
func refuse(because error, n int) []*algorithm.Failure {
	refused := &algorithm.Failure{Reason: "node(s) can't be matched: " + because.Error(), Unresolvable: true}
	return slices.Repeat([]*algorithm.Failure{refused}, n)
}

// Prioritize prefers no node: they all match, or they would not be asked about.
func (m *matcher) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	return algorithm.Equal(algorithm.MinScore, len(args.Names)), nil
}
