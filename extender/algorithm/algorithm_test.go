package algorithm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// scripted answers as it is told, and remembers the nodes that it was asked
// about.
type scripted struct {
	failures []*algorithm.Failure
	scores   []int64
	err      error
	asked    []string
}

func (s *scripted) Filter(_ context.Context, args *algorithm.Args) ([]*algorithm.Failure, error) {
	s.asked = args.Names
	return s.failures, s.err
}

func (s *scripted) Prioritize(_ context.Context, args *algorithm.Args) ([]int64, error) {
	s.asked = args.Names
	return s.scores, s.err
}

func chain(algorithms ...*scripted) algorithm.Chain {
	var c algorithm.Chain
	for i, a := range algorithms {
		c = append(c, algorithm.Link{Name: string(rune('a' + i)), Algorithm: a, Weight: int64(i + 1)})
	}
	return c
}

var (
	no    = &algorithm.Failure{Reason: "no"}
	never = &algorithm.Failure{Reason: "never", Unresolvable: true}
)

func TestAChainAsksEachAboutTheNodesThatAreLeft(t *testing.T) {
	args := &algorithm.Args{Names: []string{"1", "2", "3", "4"}}
	first, all := &scripted{failures: []*algorithm.Failure{nil, no, nil, nil}}, &scripted{}
	third, last := &scripted{failures: []*algorithm.Failure{never, nil, nil}}, &scripted{failures: []*algorithm.Failure{nil, no}}
	c := chain(first, all, third, last)
	got, err := c.Filter(t.Context(), args)
	if err != nil || !slices.Equal(got, []*algorithm.Failure{never, no, nil, no}) {
		t.Errorf("got %v, %v", got, err)
	}
	for i, want := range []string{"1234", "134", "134", "34"} {
		if asked := strings.Join([]*scripted{first, all, third, last}[i].asked, ""); asked != want {
			t.Errorf("link %d was asked about %s, want %s", i, asked, want)
		}
	}
	if c.String() != "a,b,c,d" {
		t.Errorf("the chain is called %s", c)
	}
}

func TestAChainGivesTheWeightedMean(t *testing.T) {
	args := &algorithm.Args{Names: []string{"1", "2", "3"}}
	got, err := chain(&scripted{scores: []int64{0, 10, 9}}, &scripted{scores: []int64{10, 10, 0}}).Prioritize(t.Context(), args)
	if err != nil || !slices.Equal(got, []int64{7, 10, 3}) { // (0+2·10)/3 = 6.7
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAChainHoldsAlgorithmsToTheirPromises(t *testing.T) {
	args := &algorithm.Args{Names: []string{"node-1", "node-2"}}
	for name, bad := range map[string]*scripted{
		"algorithm a answered for 1 of 2 nodes":                 {failures: []*algorithm.Failure{no}},
		"algorithm a scored 0 of 2 nodes":                       {scores: nil},
		"algorithm a gave node node-2 the score 11, outside 0":  {scores: []int64{0, 11}},
		"algorithm a gave node node-1 the score -1, outside 0 ": {scores: []int64{-1, 0}},
		"broken": {err: errors.New("broken")},
	} {
		_, filterErr := chain(bad, &scripted{}).Filter(t.Context(), args)
		_, prioritizeErr := chain(bad, &scripted{scores: []int64{0, 0}}).Prioritize(t.Context(), args)
		if err := errors.Join(filterErr, prioritizeErr); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %q, got %v", name, err)
		}
	}
}
