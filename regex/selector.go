package regex

import (
	"regexp"
	"strconv"
)

// A Selector decides by its name whether a node qualifies. It is safe for
// concurrent use.
type Selector struct {
	policy  Policy
	pattern string
	re      *regexp.Regexp
}

// Compile turns a pattern into a Selector, or returns a *PatternError that
// says what is wrong with it.
func (p Policy) Compile(pattern string) (*Selector, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, &PatternError{Annotation: p.Annotation, Pattern: pattern, Problem: err.Error()}
	}
	return &Selector{policy: p, pattern: pattern, re: re}, nil
}

// Match reports whether the pattern matches name anywhere, exactly as Go's
// regexp.MatchString does, however long that takes.
func (s *Selector) Match(name string) bool { return s.re.MatchString(name) }

// Pattern is the text that the selector was compiled from.
func (s *Selector) Pattern() string { return s.pattern }

// Mismatch is the reason for a node that does not qualify. It never contains
// the node's name, so that the scheduler adds equal reasons up.
func (s *Selector) Mismatch() string {
	return "node(s) didn't match the pod's node name regex " + strconv.Quote(s.pattern)
}

// Begin starts a scheduling cycle (or an extender request), within which
// matching may cost only so much work.
func (s *Selector) Begin() *Cycle { return &Cycle{selector: s} }

// A Cycle matches the nodes of one scheduling cycle. Safe for concurrent use.
type Cycle struct{ selector *Selector }

// Match reports whether name qualifies, or a *PatternError once the cycle's
// work is spent.
func (c *Cycle) Match(name string) (bool, error) { return c.selector.Match(name), nil }

// PatternError says why a pattern is refused.
type PatternError struct {
	Annotation string // the key that carries the pattern
	Pattern    string // whole
	Problem    string // for a person, without the pattern
}

func (e *PatternError) Error() string {
	return "annotation " + e.Annotation + ": " + e.Problem + ": " + strconv.Quote(e.Pattern)
}
