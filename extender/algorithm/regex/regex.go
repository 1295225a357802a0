// Package regex is the algorithm that keeps the nodes whose names match the regex
// in the pod's annotation, and not the one in its other annotation. The policy
// itself, patterns, matches and reasons, is the project's regex package, which
// every other way into the scheduler uses too. It is no API.
package regex

import (
	"context"
	"slices"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Default reads the annotations that every way into the scheduler reads.
func Default() Config { return Config(regex.Default) }

// Config says where the patterns are.
type Config struct {
	// Annotation is the key of the pods' annotation.
	Annotation string `json:"annotation"`
	// ExcludeAnnotation is the key of that of the nodes to exclude.
	ExcludeAnnotation string `json:"excludeAnnotation"`
}

// Validate refuses a key that no annotation can have.
func (c Config) Validate() error { return regex.Policy(c).Validate() }

// New makes the algorithm.
func New(c Config) algorithm.Algorithm {
	return &matcher{selectors: regex.NewCache(regex.Policy(c), cacheBytes)}
}

// cacheBytes bounds the memory that compiled patterns take.
const cacheBytes = 16 << 20

type matcher struct{ selectors *regex.Cache }

// Filter passes all nodes if the pod has no annotation. A pattern that is
// refused fails all of them: with an error the scheduler would try again and
// again, or decide without this extender where it is ignorable.
func (m *matcher) Filter(_ context.Context, args *algorithm.Args) ([]*algorithm.Failure, error) {
	selector, err := m.selectors.Selector(args.Pod.Annotations)
	if err != nil {
		refused := &algorithm.Failure{Reason: "node(s) can't be matched: " + err.Error(), Unresolvable: true}
		return slices.Repeat([]*algorithm.Failure{refused}, len(args.Names)), nil
	}
	if selector == nil {
		return nil, nil
	}
	var rejected [regex.Excluded + 1]*algorithm.Failure
	for v := regex.Mismatch; v <= regex.Excluded; v++ {
		rejected[v] = &algorithm.Failure{Reason: selector.Reason(v), Unresolvable: true}
	}
	failures := make([]*algorithm.Failure, len(args.Names))
	for i, name := range args.Names {
		failures[i] = rejected[selector.Judge(name)] // nil if it qualifies
	}
	return failures, nil
}

// Prioritize prefers no node: they all match, or they would not be asked about.
func (m *matcher) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	return algorithm.Equal(algorithm.MinScore, len(args.Names)), nil
}
