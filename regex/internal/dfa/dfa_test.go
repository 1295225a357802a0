package dfa

import (
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/regex/regextest"
)

// built is an automaton, nil if it was refused, and what it took of the bounds.
type built struct {
	*Automaton
	states, entries, work int
}

func (b built) String() string {
	return fmt.Sprintf("%d states, %d entries, %d work, %d bytes", b.states, b.entries, b.work, b.Size())
}

func build(t testing.TB, pattern string) built {
	t.Helper()
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	var b builder
	automaton := b.compile(program)
	return built{automaton, len(b.states), len(b.table), b.work}
}

// TestHostilePatternsStayWithinTheBounds shows which of the hostile patterns that can be parsed
// are too costly, and that they are given up at the bounds.
func TestHostilePatternsStayWithinTheBounds(t *testing.T) {
	var refused []string
	all := regextest.Hostile()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, err := syntax.Parse(all[name], syntax.Perl)
		if err != nil || len(all[name]) > 2048 {
			continue
		}
		a := build(t, all[name])
		if a.Automaton == nil {
			refused = append(refused, name)
		} else {
			t.Logf("%s: %s", name, a)
		}
		const step = 20_000 // the row of a state, or the classes, are finished that were begun
		if a.states > maxStates || a.entries > maxEntries || a.work > maxWork+step {
			t.Errorf("%s: %d states, %d entries, %d work", name, a.states, a.entries, a.work)
		}
	}
	want := []string{"flags", "many dots", "of the talk: counted repeats", "states double, with classes"}
	if !slices.Equal(refused, want) {
		t.Errorf("refused are %q, want %q", refused, want)
	}
}
