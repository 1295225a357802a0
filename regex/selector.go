package regex

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unsafe"

	"wasmkwokwizardry.io/regex-scheduling/regex/internal/dfa"
)

// A Selector decides by its name whether a node qualifies. It never changes.
type Selector struct {
	pattern   string
	mismatch  string
	automaton *dfa.Automaton
	names     []string
}

// Compile turns a pattern into a Selector. It refuses, with a [*PatternError],
// a pattern that is not RE2 syntax, and one that exceeds the budget and so
// could cost too much to compile. The pattern's memory may be reused afterwards.
func (p Policy) Compile(pattern string) (*Selector, error) {
	automaton, problem := compile(pattern)
	if automaton == nil {
		return nil, p.refuse(pattern, problem)
	}
	return &Selector{
		pattern:   strings.Clone(pattern),
		mismatch:  "node(s) didn't match the pod's node name regex " + quote(shorten(pattern)),
		automaton: automaton,
		names:     automaton.Texts(nodeChars, maxNames, maxNameLength),
	}, nil
}

// compile makes the automaton of a pattern, or words for a person what is wrong
// with it.
func compile(pattern string) (automaton *dfa.Automaton, wrong string) {
	if wrong := checkText(pattern); wrong != "" {
		return nil, wrong
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, problem(pattern, err)
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

// Pattern is the text that the selector was compiled from.
func (s *Selector) Pattern() string { return s.pattern }

// Match reports whether the pattern matches name anywhere, exactly as Go's
// regexp.MatchString does. It looks at each byte once, and allocates nothing.
func (s *Selector) Match(name string) bool { return s.automaton.Match(name) }

// Mismatch is the reason for a node that does not qualify. It never contains
// the node's name, so that the scheduler adds equal reasons up.
func (s *Selector) Mismatch() string { return s.mismatch }

// What a name of a node is made of: it is a DNS subdomain.
const (
	nodeChars     = "-.0123456789abcdefghijklmnopqrstuvwxyz"
	maxNameLength = 253
)

// maxNames bounds the names that are listed.
const maxNames = 256

// Names lists, in order, the names of all nodes that can match, if the pattern
// is proven to match at least one and only few, as ^(kubecon-1|kubecon-2)$ is.
// Otherwise it is empty, and the nodes' names decide.
func (s *Selector) Names() []string { return s.names }

// Unlisted is the reason for all nodes that Names leaves out.
func (s *Selector) Unlisted() string {
	return "only nodes that match the pod's node name regex " + quote(shorten(s.pattern)) + " were considered"
}

// Size is about how many bytes of memory the selector holds.
func (s *Selector) Size() int {
	n := int(unsafe.Sizeof(*s)) + len(s.pattern) + len(s.mismatch) + s.automaton.Size()
	for _, name := range s.names {
		n += len(name) + int(unsafe.Sizeof(name))
	}
	return n
}
