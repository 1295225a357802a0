package regex

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A pattern whose states double with every letter, on names that visit all of
// them.
const explosive = `(a|b)*a(a|b){300}$`

func TestACycleEndsBeforeItsWorkGetsOutOfHand(t *testing.T) {
	selector := mustCompile(t, explosive)
	cycle := selector.Begin()
	random := rand.New(rand.NewPCG(5, 6))
	const names = 1000
	spent, refused := 0, 0
	for range names {
		before := cycle.left.Load()
		_, err := cycle.Match(randomName(random, "ab", 253))
		spent += int(before - cycle.left.Load() + workPerName)
		var tooCostly *PatternError
		switch {
		case errors.As(err, &tooCostly):
			refused++
		case err != nil:
			t.Fatal(err)
		}
	}
	if refused < names/2 {
		t.Errorf("only %d names were refused", refused)
	}
	step := 2 * len(selector.program.insts)
	if most := account + names*workPerName + step; spent > most {
		t.Errorf("spent %d, at most %d is allowed", spent, most)
	}
	if _, err := selector.Begin().Match(strings.Repeat("a", 60)); err != nil {
		t.Errorf("the next cycle: %v", err)
	}
}

func TestALongCycleDoesNotSaveUp(t *testing.T) {
	cycle := mustCompile(t, "kubecon").Begin()
	for i := range 10_000 {
		if _, err := cycle.Match(fmt.Sprintf("node-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if left := cycle.left.Load(); left > account+workPerName {
		t.Errorf("%d left", left)
	}
}

func TestHonestCyclesSpendLittle(t *testing.T) {
	var alternation []string
	for i := range 100 {
		alternation = append(alternation, fmt.Sprintf("ip-10-0-%d-%d", i, i*7%256))
	}
	for _, pattern := range []string{
		"kubecon-.*", "-9$", "(?i)kubecon", `^[a-z0-9-]{0,63}$`, `[a-z0-9]{5,20}-gpu`, `kubecon.{0,20}east.{0,20}prod`,
		`.*\.(us|eu)-(east|west)-[0-9]\.compute\.internal$`, `([0-9a-f]{4,12}-){2,4}gpu`,
		strings.Join(alternation, "|"), "(?i)^(" + strings.Join(alternation, "|") + ")$",
	} {
		cycle, d := mustCompile(t, pattern).Begin(), newDFA()
		for i := range 5000 {
			for _, name := range []string{
				fmt.Sprintf("ip-10-0-%d-%d.eu-west-1.compute.internal", i%256, i/256),
				fmt.Sprintf("gke-prod-pool-%x-%04x", i*7919%65536, i),
			} {
				if _, err := cycle.match(d, name); err != nil {
					t.Fatal(err)
				}
				if left := cycle.left.Load(); left < account-workPerCycle/2 {
					t.Fatalf("%.40s: spent %d of %d", pattern, account-left, workPerCycle)
				}
			}
		}
		if left := cycle.left.Load(); left < account {
			t.Errorf("%.40s: %d of %d came back", pattern, left, account)
		}
	}
}

func TestMatchAllSaysWhatMatchSays(t *testing.T) {
	var got []bool
	err := mustCompile(t, "^kubecon-").Begin().MatchAll([]string{"kubecon-1", "", "kubecon-2", "other"}, func(i int, matches bool) {
		if i != len(got) {
			t.Errorf("index %d after %d names", i, len(got))
		}
		got = append(got, matches)
	})
	if want := []bool{true, false, true, false}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	costly := make([]string, 1000)
	random := rand.New(rand.NewPCG(7, 8))
	for i := range costly {
		costly[i] = randomName(random, "ab", 253)
	}
	verdicts := 0
	err = mustCompile(t, explosive).Begin().MatchAll(costly, func(int, bool) { verdicts++ })
	if err == nil || verdicts == 0 || verdicts == len(costly) {
		t.Errorf("%d verdicts, and then: %v", verdicts, err)
	}
}

func TestACycleServesManyGoroutines(t *testing.T) {
	cycle := mustCompile(t, `^node-\d*[02468]$`).Begin()
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			for i := worker; i < 16_000; i += 16 {
				if ok, err := cycle.Match(fmt.Sprintf("node-%d", i)); err != nil || ok != (i%2 == 0) {
					t.Errorf("node-%d: %v, %v", i, ok, err)
				}
			}
		})
	}
	group.Wait()
}

func mustCompile(t *testing.T, pattern string) *Selector {
	t.Helper()
	selector, err := Default.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return selector
}
