// Package regex is the algorithm that keeps the nodes whose names match the
// regex in the pod's annotation, and not the one in its other annotation. It has no policy of its own: what the pattern
// may be, what it matches and how a mismatch reads is all in the project's
// regex package, which every other door into the scheduler uses too.
package regex

import (
	"context"
	"slices"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func init() {
	algorithm.Register("regex", func() Config { return Config(regex.Default) }, newMatcher)
}

// Config says where the patterns are.
type Config struct {
	// Annotation is the key of the pods' annotation.
	Annotation string `json:"annotation"`
	// ExcludeAnnotation is the key of that of the nodes to exclude.
	ExcludeAnnotation string `json:"excludeAnnotation"`
}

// Validate refuses a key that no annotation can have.
func (c Config) Validate() error { return regex.Policy(c).Validate() }

func newMatcher(config Config, _ algorithm.Env) (algorithm.Algorithm, error) {
	return &matcher{selectors: regex.NewCache(regex.Policy(config), cacheBytes)}, nil
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

// refuse fails each of n nodes because of the pattern.
func refuse(because error, n int) []*algorithm.Failure {
	refused := &algorithm.Failure{Reason: "node(s) can't be matched: " + because.Error(), Unresolvable: true}
	return slices.Repeat([]*algorithm.Failure{refused}, n)
}

// Prioritize prefers no node: they all match, or they would not be asked about.
func (m *matcher) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	return algorithm.Equal(algorithm.MinScore, len(args.Names)), nil
}
