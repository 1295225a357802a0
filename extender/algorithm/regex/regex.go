// Package regex is the algorithm that passes the nodes whose names match the regex in
// one annotation of the pod, and not the regex in another one. It prefers those whose names
// match the regex in a third one. The policy itself, patterns, matches and reasons, is the
// project's regex package, which every plugin variant uses.
package regex

import (
	"context"
	"slices"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Default reads the annotations that every plugin variant reads.
func Default() Config { return regex.Default }

// Config names the annotations.
type Config = regex.Policy

// New makes the algorithm.
func New(c Config) algorithm.Algorithm {
	return &matcher{regex.NewCache(c, cacheBytes)}
}

// cacheBytes bounds the memory that compiled patterns take.
const cacheBytes = 16 << 20

type matcher struct{ patterns *regex.Cache }

// Filter passes all nodes if the pod has no annotation. An invalid pattern fails all
// nodes and is not an error: after an error the scheduler tries again and again, or
// ignores the extender if its configuration says so.
func (m *matcher) Filter(_ context.Context, args *algorithm.Args) ([]*algorithm.Failure, error) {
	rules, err := m.patterns.Compile(args.Pod.Annotations)
	if err != nil {
		invalid := &algorithm.Failure{Reason: "node(s) can't be matched: " + err.Error(), Unresolvable: true}
		return slices.Repeat([]*algorithm.Failure{invalid}, len(args.Names)), nil
	}
	if !rules.Filters() {
		return nil, nil
	}
	var rejected [regex.Verdicts]*algorithm.Failure
	for v := range rejected {
		rejected[v] = &algorithm.Failure{Reason: rules.Reason(regex.Verdict(v)), Unresolvable: true}
	}
	rejected[regex.Qualifies] = nil
	failures := make([]*algorithm.Failure, len(args.Names))
	for i, name := range args.Names {
		failures[i] = rejected[rules.Judge(name)]
	}
	return failures, nil
}

// Prioritize gives the nodes that the pod prefers the highest score, and others the lowest. It
// compiles no other pattern: Filter reports their mistakes.
func (m *matcher) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	scores := algorithm.Equal(algorithm.MinScore, len(args.Names))
	rules, err := m.patterns.Compile(args.Pod.Annotations, regex.Prefer)
	if err != nil {
		return nil, err
	}
	for i, name := range args.Names {
		if rules.Prefers(name) {
			scores[i] = algorithm.MaxScore
		}
	}
	return scores, nil
}
