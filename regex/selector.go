package regex

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Selector decides by its name whether a node qualifies. It never changes,
// and it is safe for concurrent use.
type Selector struct {
	policy   Policy
	pattern  string
	mismatch string
	program  *program
}

// Compile turns a pattern into a Selector. It refuses, with a [*PatternError],
// a pattern that is not RE2 syntax, and one that exceeds the budget and so
// could cost too much to compile or to match. The pattern's memory may be
// reused afterwards.
func (p Policy) Compile(pattern string) (*Selector, error) {
	program, problem := newProgram(pattern)
	if program == nil {
		return nil, p.refuse(pattern, problem)
	}
	return &Selector{
		policy:   p,
		pattern:  strings.Clone(pattern),
		mismatch: "node(s) didn't match the pod's node name regex " + quote(shorten(pattern)),
		program:  program,
	}, nil
}

// Pattern is the text that the selector was compiled from.
func (s *Selector) Pattern() string { return s.pattern }

// Mismatch is the reason for a node that does not qualify. It never contains
// the node's name, so that the scheduler adds equal reasons up.
func (s *Selector) Mismatch() string { return s.mismatch }

// Match reports whether the pattern matches name anywhere, exactly as Go's
// regexp.MatchString does, however much work that takes. Where pods wait for
// the answer, use a [Cycle].
func (s *Selector) Match(name string) bool {
	d := dfas.Get().(*dfa)
	d.use(s.program)
	matches, _ := d.match(name, math.MaxInt)
	dfas.Put(d)
	return matches
}

// Begin starts a scheduling cycle, or an extender's request.
func (s *Selector) Begin() *Cycle {
	c := &Cycle{selector: s}
	c.left.Store(workPerCycle)
	return c
}

// Size is about how many bytes of memory the selector holds.
func (s *Selector) Size() int {
	return int(unsafe.Sizeof(*s)) + len(s.pattern) + len(s.mismatch) + s.program.size()
}

// dfas holds the working memory of matches, each perhaps warm with the states
// of the selector it served last.
var dfas = sync.Pool{New: func() any { return newDFA() }}

// A Cycle matches the nodes of one scheduling cycle. No size of a pattern
// bounds what matching costs, so the cycle does: a name whose share of the work
// is spent gets an error instead of a verdict. Work is the visit of an
// instruction, some nanoseconds, and counts only while states are built:
// honest patterns spend little of it, once.
//
// It is safe for concurrent use.
type Cycle struct {
	selector *Selector
	left     atomic.Int64
}

// Every name may cost workPerName; what it needs beyond that comes out of
// workPerCycle, for all names together.
const (
	workPerCycle = 100_000
	workPerName  = 100
)

// Selector is what the cycle matches against.
func (c *Cycle) Selector() *Selector { return c.selector }

// Match reports whether the pattern matches name anywhere. The error, always a
// [*PatternError], says that the cycle's work is spent before that is known.
func (c *Cycle) Match(name string) (bool, error) {
	left := max(0, c.left.Load())
	d := dfas.Get().(*dfa)
	d.use(c.selector.program)
	matches, ok := d.match(name, int(left)+workPerName)
	if d.work > workPerName {
		c.left.Add(int64(workPerName - d.work))
	}
	dfas.Put(d)
	if !ok {
		return false, c.selector.policy.refuse(c.selector.pattern, "the pattern is too costly to match against the nodes' names; "+
			"use fewer or smaller repeats, or anchor it with ^")
	}
	return matches, nil
}
