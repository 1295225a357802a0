package algorithm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// scripted gives fixed answers.
type scripted struct {
	failures []*algorithm.Failure
	scores   []int64
	err      error
}

func (s *scripted) Filter(_ context.Context, _ *algorithm.Args) ([]*algorithm.Failure, error) {
	return s.failures, s.err
}

func (s *scripted) Prioritize(_ context.Context, _ *algorithm.Args) ([]int64, error) {
	return s.scores, s.err
}

var no = &algorithm.Failure{Reason: "no"}

func TestContractViolationsAreErrors(t *testing.T) {
	args := &algorithm.Args{Names: []string{"node-1", "node-2"}}
	for name, bad := range map[string]*scripted{
		"algorithm a answered for 1 of 2 nodes":                 {failures: []*algorithm.Failure{no}},
		"algorithm a scored 0 of 2 nodes":                       {scores: nil},
		"algorithm a gave node node-2 the score 11, outside 0":  {scores: []int64{0, 11}},
		"algorithm a gave node node-1 the score -1, outside 0 ": {scores: []int64{-1, 0}},
		"broken": {err: errors.New("broken")},
	} {
		_, filterErr := algorithm.Named{Name: "a", Algorithm: bad}.Filter(t.Context(), args)
		_, prioritizeErr := algorithm.Named{Name: "a", Algorithm: bad}.Prioritize(t.Context(), args)
		if err := errors.Join(filterErr, prioritizeErr); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %q, got %v", name, err)
		}
	}
}
