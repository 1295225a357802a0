package lucky

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
)

func args(uid string, nodes int) *algorithm.Args {
	a := &algorithm.Args{Pod: algorithm.Pod{Namespace: "default", Name: "web", UID: uid}}
	for i := range nodes {
		a.Names = append(a.Names, fmt.Sprint("node-", i))
	}
	return a
}

// ask returns the answers to both verbs as one line.
func ask(t *testing.T, l *lucky, a *algorithm.Args) string {
	t.Helper()
	failures, err := l.Filter(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := l.Prioritize(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	passed := ""
	for _, failure := range failures {
		passed += map[bool]string{true: "+", false: "-"}[failure == nil]
	}
	return passed + fmt.Sprint(scores)
}

func TestScoresAndLuckAreSpreadOverTheirRange(t *testing.T) {
	for _, stable := range []bool{false, true} {
		l := newLucky(Config{Pass: 0.25, Seed: 1, Stable: stable, CycleGap: metav1.Duration{Duration: time.Hour}}, time.Now)
		const n = 22_000
		failures, _ := l.Filter(t.Context(), args("a", n))
		passed := 0
		for _, failure := range failures {
			if failure == nil {
				passed++
			}
		}
		if passed < n/4*95/100 || passed > n/4*105/100 {
			t.Errorf("stable %v: %d of %d passed, want about a quarter", stable, passed, n)
		}
		scores, _ := l.Prioritize(t.Context(), args("a", n))
		var count [algorithm.MaxScore + 1]int
		for _, score := range scores {
			count[score]++
		}
		for score, times := range count {
			if times < n/11*85/100 || times > n/11*115/100 {
				t.Errorf("stable %v: score %d came %d times, want about %d", stable, score, times, n/11)
			}
		}
	}
}

func TestTheExtremesOfLuck(t *testing.T) {
	for pass, want := range map[float64]int{0: 0, 1: 500} {
		failures, _ := newLucky(Config{Pass: pass}, time.Now).Filter(t.Context(), args("a", 500))
		passed := 0
		for _, failure := range failures {
			if failure == nil {
				passed++
			}
		}
		if passed != want {
			t.Errorf("pass %v: %d of 500 passed", pass, passed)
		}
	}
}

func TestASeedMakesAnswersRepeatable(t *testing.T) {
	for _, stable := range []bool{false, true} {
		config := Config{Pass: 0.5, Seed: 42, Stable: stable, CycleGap: metav1.Duration{Duration: time.Hour}}
		one, two := newLucky(config, time.Now), newLucky(config, time.Now)
		for i := range 5 {
			a := args(fmt.Sprint(i), 50)
			if x, y := ask(t, one, a), ask(t, two, a); x != y {
				t.Errorf("stable %v, request %d: %s and %s", stable, i, x, y)
			}
		}
		config.Seed = 43
		if ask(t, newLucky(config, time.Now), args("a", 50)) == ask(t, newLucky(Config{Pass: 0.5, Seed: 42}, time.Now), args("a", 50)) {
			t.Error("another seed gives the same")
		}
	}
	unseeded := func() string { return fmt.Sprint(ask(t, newLucky(Config{Pass: 0.5}, time.Now), args("a", 50))) }
	if first, second := unseeded(), unseeded(); first == second {
		t.Error("without a seed two starts give the same")
	}
}

func TestAPodKeepsItsLuckForACycle(t *testing.T) {
	now := time.Unix(1, 0)
	l := newLucky(Config{Pass: 0.5, Seed: 1, Stable: true, CycleGap: metav1.Duration{Duration: time.Second}}, func() time.Time { return now })
	first := ask(t, l, args("a", 50))
	other := ask(t, l, args("b", 50))
	if first == other {
		t.Error("two pods have the same luck")
	}
	for range 10 { // requests keep a cycle going
		now = now.Add(time.Second - 1)
		if again := ask(t, l, args("a", 50)); again != first {
			t.Fatalf("within a cycle: %s, then %s", first, again)
		}
	}
	reversed := args("a", 50)
	slices.Reverse(reversed.Names)
	scores, _ := l.Prioritize(t.Context(), reversed)
	slices.Reverse(scores)
	forward, _ := l.Prioritize(t.Context(), args("a", 50))
	if !slices.Equal(scores, forward) {
		t.Error("the order of the nodes changes their luck")
	}
	now = now.Add(time.Second)
	if next := ask(t, l, args("a", 50)); next == first {
		t.Error("the next cycle is the same")
	}
}

func TestForgottenPodsTakeNoMemory(t *testing.T) {
	now := time.Unix(1, 0)
	l := newLucky(Config{Pass: 0.5, Stable: true, CycleGap: metav1.Duration{Duration: time.Second}}, func() time.Time { return now })
	for i := range 3 * maxCycles {
		now = now.Add(time.Millisecond)
		ask(t, l, args(fmt.Sprint(i), 1))
		if len(l.cycles.pods) > maxCycles {
			t.Fatalf("%d pods are remembered, want at most %d", len(l.cycles.pods), maxCycles)
		}
	}
}

func TestConfigIsValidated(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"":                              func(*Config) {},
		"pass: must be from 0 to 1":     func(c *Config) { c.Pass = 1.1 },
		"cycleGap: must be more than 0": func(c *Config) { c.Stable, c.CycleGap.Duration = true, 0 },
	} {
		c := defaults()
		change(&c)
		if got := fmt.Sprint(c.Validate()); got != want && (want != "" || got != "<nil>") {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
