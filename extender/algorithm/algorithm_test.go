package algorithm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	_ "wasmkwokwizardry.io/regex-scheduling/extender/algorithm/builtin"
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

type config struct {
	Size int `json:"size"`
}

func (c config) New(logr.Logger) (algorithm.Algorithm, error) {
	return &scripted{scores: []int64{int64(c.Size)}}, nil
}

func (c config) Validate() error {
	if c.Size < 0 {
		return errors.New("size: must not be negative")
	}
	return nil
}

func init() { algorithm.Register("registry-test", func() algorithm.Config { return &config{Size: 3} }) }

func TestARegisteredAlgorithmGetsItsConfig(t *testing.T) {
	for raw, want := range map[string]int64{"": 3, "null": 3, "{}": 3, `{"size":5}`: 5} {
		a, err := algorithm.New("registry-test", []byte(raw), logr.Discard())
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := a.Prioritize(t.Context(), &algorithm.Args{}); got[0] != want {
			t.Errorf("%q: size %d, want %d", raw, got[0], want)
		}
	}
	for raw, want := range map[string]string{
		`{"sise":5}`: `unknown field "sise"`, `{"Size":5}`: `unknown field "Size"`, `{"size":1,"size":2}`: `duplicate field "size"`,
		`{"size":-1}`: "size: must not be negative", `{"size":"big"}`: "size", `{`: "unexpected end",
	} {
		if _, err := algorithm.Resolve("registry-test", []byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", raw, err, want)
		}
	}
	_, err := algorithm.Resolve("missing", nil)
	if want := `no algorithm is called "missing": there are load, lucky, nop, regex, registry-test`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestANameIsTakenOnce(t *testing.T) {
	for name, want := range map[string]string{"registry-test": "registered twice", "": "is no name", "a b": "is no name", "a,b": "is no name"} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, want) {
					t.Errorf("%q: panic %q, want %s", name, p, want)
				}
			}()
			algorithm.Register(name, func() algorithm.Config { return &config{} })
		}()
	}
}
