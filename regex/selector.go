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
	include, exclude *pattern // nil where there is none
}

// pattern is a compiled pattern.
type pattern struct {
	reason    string // of nodes that are rejected by it
	automaton *dfa.Automaton
}

// Verdict is the result of a Selector for a node.
type Verdict uint8

const (
	Qualifies Verdict = iota
	Mismatch          // the name does not match the pattern that it must match
	Excluded          // the name matches the pattern that it must not match
)

// newSelector makes a selector of the patterns of each role. A missing pattern is nil.
func newSelector(patterns []*string, compile func(role, string) (*pattern, error)) (*Selector, error) {
	var of [roles]*pattern
	for r, text := range patterns {
		if text == nil {
			continue
		}
		var err error
		if of[r], err = compile(role(r), *text); err != nil {
			return nil, err
		}
	}
	if of[including] == nil && of[excluding] == nil {
		return nil, nil
	}
	return &Selector{of[including], of[excluding]}, nil
}

// newPreference makes a selector of the nodes that match a pattern, which is nil where it is
// missing.
func newPreference(pattern *string, compile func(role, string) (*pattern, error)) (*Selector, error) {
	if pattern == nil {
		return nil, nil
	}
	prefer, err := compile(preferring, *pattern)
	if err != nil {
		return nil, err
	}
	return &Selector{include: prefer}, nil
}

// compile compiles the pattern of a role. It refuses, with a [*PatternError], a
// pattern that is not RE2 syntax, and one that exceeds the budget. The pattern's memory
// may be reused afterwards.
func (p Policy) compile(r role, text string) (*pattern, error) {
	automaton, problem := compile(text)
	if automaton == nil {
		return nil, p.refuse(r, text, problem)
	}
	switch r {
	case including:
		return &pattern{"node(s) didn't match the pod's node name regex " + quote(shorten(text)), automaton}, nil
	case excluding:
		return &pattern{"node(s) matched the pod's node name regex-exclude " + quote(shorten(text)), automaton}, nil
	}
	return &pattern{automaton: automaton}, nil // a preference rejects no node
}

// compile makes the automaton of a pattern, or says what is wrong with the pattern.
func compile(text string) (automaton *dfa.Automaton, wrong string) {
	if wrong := checkText(text); wrong != "" {
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
	if automaton = dfa.Compile(program); automaton == nil {
		return nil, "the pattern is too costly to match against the nodes' names; " +
			"use fewer or smaller repeats, or anchor it with ^"
	}
	return automaton, ""
}

// Judge decides on a node by its name. A pattern matches a name if it matches anywhere
// in it, as Go's regexp.MatchString does. Judge reads each byte once for each pattern,
// and allocates nothing.
func (s *Selector) Judge(name string) Verdict {
	if s.include != nil && !s.include.automaton.Match(name) {
		return Mismatch
	}
	if s.exclude != nil && s.exclude.automaton.Match(name) {
		return Excluded
	}
	return Qualifies
}

// Match reports whether a node qualifies.
func (s *Selector) Match(name string) bool { return s.Judge(name) == Qualifies }

// Reason returns why a node with that verdict does not qualify. It never contains the
// node's name, so that the scheduler can count the nodes with the same reason.
func (s *Selector) Reason(v Verdict) string {
	switch {
	case v == Mismatch && s.include != nil:
		return s.include.reason
	case v == Excluded && s.exclude != nil:
		return s.exclude.reason
	}
	return ""
}

// size is about how many bytes of memory a pattern holds.
func (p *pattern) size() int {
	return int(unsafe.Sizeof(*p)) + len(p.reason) + p.automaton.Size()
}
