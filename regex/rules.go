package regex

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"unsafe"

	"wasmkwokwizardry.io/regex-scheduling/regex/internal/dfa"
)

// Rules are a pod's compiled patterns, which decide by the names of nodes. The zero Rules are
// those of a pod without patterns. Rules that a [Cache] has compiled of the same patterns are
// equal, as long as the cache keeps these.
type Rules struct {
	patterns [Roles]*pattern // nil where the pod has none
}

// pattern is a compiled pattern.
type pattern struct {
	automaton *dfa.Automaton
	reason    string // of nodes that it rejects
}

// Compile compiles the patterns in a pod's annotations, of some roles or, without any, of all. It refuses a pattern that is not RE2
// syntax, and one that exceeds the budget. The error is about the first one, in the order of
// roles, and always a [*PatternError].
func (p Policy) Compile(annotations map[string]string, only ...Role) (Rules, error) {
	return p.rules(annotations, only, p.compile)
}

// rules makes the rules of the patterns that compile returns.
func (p Policy) rules(annotations map[string]string, only []Role, compile func(Role, string) (*pattern, error)) (rules Rules, err error) {
	for r := range Roles {
		text, ok := annotations[p.Key(r)]
		if !ok || len(only) > 0 && !slices.Contains(only, r) {
			continue
		}
		rules.patterns[r], err = compile(r, text)
		if err != nil {
			return Rules{}, err
		}
	}
	return rules, nil
}

// compile compiles the pattern of a role. The text's memory may be reused afterwards.
func (p Policy) compile(r Role, text string) (*pattern, error) {
	automaton, problem := compile(text)
	if automaton == nil {
		return nil, p.refuse(r, text, problem)
	}
	compiled := &pattern{automaton: automaton}
	if r.Rejects() {
		compiled.reason = roles[r].reason + quote(shorten(text))
	}
	return compiled, nil
}

// compile makes the automaton of a pattern, or says what is wrong with the pattern.
func compile(text string) (automaton *dfa.Automaton, wrong string) {
	wrong = checkText(text)
	if wrong != "" {
		return nil, wrong
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, problem(text, err)
	}
	if instructions(tree) > maxInstructions {
		return nil, "the pattern is too costly: with its repeats written out it may hold at most " +
			strconv.Itoa(maxInstructions) + " characters and operators"
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err.Error()
	}
	automaton = dfa.Compile(program)
	if automaton == nil {
		return nil, "the pattern is too costly to match against the nodes' names; " +
			"use fewer or smaller repeats, or anchor it with ^"
	}
	return automaton, ""
}

// Filters reports whether the rules can reject a node.
func (r *Rules) Filters() bool { return r.patterns[Require] != nil || r.patterns[Exclude] != nil }

// Scores reports whether the rules can prefer a node.
func (r *Rules) Scores() bool { return r.patterns[Prefer] != nil }

// Judge decides by a node's name whether the node qualifies. A pattern matches a name if it
// matches anywhere in it, as Go's regexp.MatchString does. Judge reads each byte once for each
// pattern, and allocates nothing.
func (r *Rules) Judge(name string) Verdict {
	required, excluded := r.patterns[Require], r.patterns[Exclude]
	switch {
	case required != nil && !required.automaton.Match(name):
		return Mismatch
	case excluded != nil && excluded.automaton.Match(name):
		return Excluded
	}
	return Qualifies
}

// Prefers reports whether the pod prefers a node to others that qualify. It allocates nothing.
func (r *Rules) Prefers(name string) bool {
	preferred := r.patterns[Prefer]
	return preferred != nil && preferred.automaton.Match(name)
}

// Reason returns why a node with that verdict does not qualify. It never contains the
// node's name, so that the scheduler can count the nodes with the same reason.
func (r *Rules) Reason(v Verdict) string {
	if v == Qualifies || r.patterns[v-1] == nil {
		return ""
	}
	return r.patterns[v-1].reason
}

// size is about how many bytes of memory a pattern holds.
func (p *pattern) size() int {
	return int(unsafe.Sizeof(*p)) + len(p.reason) + p.automaton.Size()
}
