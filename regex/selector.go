package regex

import (
	"regexp/syntax"
	"strconv"
	"unsafe"

	"wasmkwokwizardry.io/regex-scheduling/regex/internal/dfa"
)

// A Selector decides by a node's name whether the node qualifies. It never changes.
// Two selectors that a [Cache] has made of the same patterns are equal, as long as the
// cache keeps these.
type Selector struct {
	patterns [Roles]*pattern // nil where there is none
}

// pattern is a compiled pattern.
type pattern struct {
	automaton    *dfa.Automaton
	rejectsMatch bool   // else it rejects a name that does not match
	reason       string // of nodes that it rejects
}

// newSelector makes a selector of the patterns that reject nodes, or of the patterns that score them,
// and nil without any. There is a pattern for each role, nil where it is missing. A selector that
// rejects needs that the other patterns are valid, too.
func newSelector(patterns []*string, rejecting bool, compile func(Role, string) (*pattern, error)) (*Selector, error) {
	var s *Selector
	for r, text := range patterns {
		rejects := Role(r).Rejects()
		if text == nil || rejects && !rejecting {
			continue
		}
		compiled, err := compile(Role(r), *text)
		if err != nil {
			return nil, err
		}
		if rejects != rejecting {
			continue
		}
		if s == nil {
			s = new(Selector)
		}
		s.patterns[r] = compiled
	}
	return s, nil
}

// compile compiles the pattern of a role. It refuses, with a [*PatternError], a
// pattern that is not RE2 syntax, and one that exceeds the budget. The pattern's memory
// may be reused afterwards.
func (p Policy) compile(r Role, text string) (*pattern, error) {
	automaton, problem := compile(text)
	if automaton == nil {
		return nil, p.refuse(r, text, problem)
	}
	compiled := &pattern{automaton: automaton, rejectsMatch: roles[r].rejectsMatch}
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

// Judge decides on a node by its name. A pattern matches a name if it matches anywhere
// in it, as Go's regexp.MatchString does. Judge reads each byte once for each pattern,
// and allocates nothing.
func (s *Selector) Judge(name string) Verdict {
	for r := range s.patterns {
		p := s.patterns[r]
		if p != nil && p.automaton.Match(name) == p.rejectsMatch {
			return Verdict(1 + r)
		}
	}
	return Qualifies
}

// Match reports whether a node qualifies.
func (s *Selector) Match(name string) bool { return s.Judge(name) == Qualifies }

// Reason returns why a node with that verdict does not qualify. It never contains the
// node's name, so that the scheduler can count the nodes with the same reason.
func (s *Selector) Reason(v Verdict) string {
	if v == Qualifies || s.patterns[v-1] == nil {
		return ""
	}
	return s.patterns[v-1].reason
}

// size is about how many bytes of memory a pattern holds.
func (p *pattern) size() int {
	return int(unsafe.Sizeof(*p)) + len(p.reason) + p.automaton.Size()
}
