package regex

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"unsafe"

	"wasmkwokwizardry.io/regex-scheduling/regex/internal/dfa"
)

// A Selector decides by its name whether a node qualifies. It never changes.
type Selector struct {
	include, exclude *pattern // nil where there is none
	names            []string
}

// pattern is one that was compiled.
type pattern struct {
	shown     string // for a person
	reason    string // of nodes that are rejected by it
	automaton *dfa.Automaton
	names     []string // that it matches, if they are few
}

// Verdict is what a Selector says of a node.
type Verdict uint8

const (
	Qualifies Verdict = iota
	Mismatch          // the name does not match the pattern that it must match
	Excluded          // the name matches the pattern that it must not match
)

// newSelector makes a selector of patterns, nil for one that is not there.
func newSelector(include, exclude *string, compile func(role, string) (*pattern, error)) (*Selector, error) {
	var s Selector
	var err error
	if include != nil {
		if s.include, err = compile(including, *include); err != nil {
			return nil, err
		}
		s.names = s.include.names
	}
	if exclude != nil {
		if s.exclude, err = compile(excluding, *exclude); err != nil {
			return nil, err
		}
		s.names = slices.DeleteFunc(slices.Clone(s.names), s.exclude.automaton.Match)
	}
	if s.include == nil && s.exclude == nil {
		return nil, nil
	}
	return &s, nil
}

// compile compiles the pattern of a role. It refuses, with a [*PatternError], one
// that is not RE2 syntax, and one that exceeds the budget and so could cost too
// much to compile. The pattern's memory may be reused afterwards.
func (p Policy) compile(r role, text string) (*pattern, error) {
	automaton, problem := compile(text)
	if automaton == nil {
		return nil, p.refuse(r, text, problem)
	}
	c := &pattern{shown: quote(shorten(text)), automaton: automaton}
	if r == excluding {
		c.reason = "node(s) matched the pod's node name regex-exclude " + c.shown
	} else {
		c.reason = "node(s) didn't match the pod's node name regex " + c.shown
		c.names = automaton.Texts(nodeChars, maxNames, maxNameLength)
	}
	return c, nil
}

// compile makes the automaton of a pattern, or words for a person what is wrong
// with it.
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

// Judge decides on a node. A pattern matches a name if it matches anywhere in it,
// exactly as Go's regexp.MatchString says. Judge looks at each byte once for each
// pattern, and allocates nothing.
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

// Reason is why a node with that verdict does not qualify. It never contains the
// node's name, so that the scheduler adds equal reasons up.
func (s *Selector) Reason(v Verdict) string {
	switch {
	case v == Mismatch && s.include != nil:
		return s.include.reason
	case v == Excluded && s.exclude != nil:
		return s.exclude.reason
	}
	return ""
}

// What a name of a node is made of: it is a DNS subdomain.
const (
	nodeChars     = "-.0123456789abcdefghijklmnopqrstuvwxyz"
	maxNameLength = 253
)

// maxNames bounds the names that are listed.
const maxNames = 256

// Names lists, in order, the names of all nodes that can qualify, if the patterns
// are proven to leave at least one and only few, as ^(kubecon-1|kubecon-2)$ does.
// Otherwise it is empty, and the nodes' names decide.
func (s *Selector) Names() []string { return s.names }

// Unlisted is the reason for all nodes that Names leaves out.
func (s *Selector) Unlisted() string {
	if s.include == nil {
		return ""
	}
	which := "match the pod's node name regex " + s.include.shown
	if s.exclude != nil {
		which += ", and not its regex-exclude " + s.exclude.shown + ","
	}
	return "only nodes that " + which + " were considered"
}

// size is about how many bytes of memory a pattern holds.
func (p *pattern) size() int {
	n := int(unsafe.Sizeof(*p)) + len(p.shown) + len(p.reason) + p.automaton.Size()
	for _, name := range p.names {
		n += len(name) + int(unsafe.Sizeof(name))
	}
	return n
}
