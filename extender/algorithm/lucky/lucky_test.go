package lucky

import (
	"fmt"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func args(nodes int) *algorithm.Args { return &algorithm.Args{Names: make([]string, nodes)} }

// passing counts the nodes of a request that pass.
func passing(t *testing.T, l algorithm.Algorithm, nodes int) (passed int) {
	t.Helper()
	failures, err := l.Filter(t.Context(), args(nodes))
	testkit.Must(t, err)
	for _, failure := range failures {
		if failure == nil {
			passed++
		}
	}
	return passed
}

func TestScoresAndLuckAreSpreadOverTheirRange(t *testing.T) {
	l := New(Config{Pass: 0.25, Seed: 1})
	const n = 22_000
	passed := passing(t, l, n)
	if passed < n/4*95/100 || passed > n/4*105/100 {
		t.Errorf("%d of %d passed, want about a quarter", passed, n)
	}
	scores, err := l.Prioritize(t.Context(), args(n))
	testkit.Must(t, err)
	var count [algorithm.MaxScore + 1]int
	for _, score := range scores {
		count[score]++
	}
	for score, times := range count {
		if times < n/11*85/100 || times > n/11*115/100 {
			t.Errorf("score %d came %d times, want about %d", score, times, n/11)
		}
	}
}

func TestExtremesOfLuck(t *testing.T) {
	for pass, want := range map[float64]int{0: 0, 1: 500} {
		testkit.Equal(t, passing(t, New(Config{Pass: pass}), 500), want, "of 500 nodes that pass by %v", pass)
	}
}

// answers are the responses to three requests for each verb, as text.
func answers(t *testing.T, seed uint64) (all string) {
	t.Helper()
	l := New(Config{Pass: 0.5, Seed: seed})
	for range 3 {
		scores, err := l.Prioritize(t.Context(), args(50))
		testkit.Must(t, err)
		all += fmt.Sprintln(passing(t, l, 50), scores)
	}
	return all
}

func TestSeedMakesAnswersRepeatable(t *testing.T) {
	testkit.Equal(t, answers(t, 42), answers(t, 42), "the answers of two starts")
	if answers(t, 42) == answers(t, 43) {
		t.Error("another seed gives the same")
	}
	one, two := answers(t, 0), answers(t, 0)
	if one == two {
		t.Error("without a seed two starts give the same")
	}
}
