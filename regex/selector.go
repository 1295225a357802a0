package regex

import (
	"math"
	"strings"
	"sync/atomic"
	"unsafe"
)

// A Selector decides by its name whether a node qualifies. It never changes,
// and it is safe for concurrent use.
type Selector struct {
	pattern  string
	mismatch string
	costly   *PatternError
	program  *program
	names    []string
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
	d := borrow()
	names, _ := program.finite(d)
	giveBack(d)
	return &Selector{
		names:    names,
		pattern:  strings.Clone(pattern),
		mismatch: "node(s) didn't match the pod's node name regex " + quote(shorten(pattern)),
		costly:   p.refuse(pattern, tooCostly),
		program:  program,
	}, nil
}

// tooCostly is the problem of a pattern that is found out only by matching.
const tooCostly = "the pattern is too costly to match against the nodes' names; " +
	"use fewer or smaller repeats, or anchor it with ^"

// Pattern is the text that the selector was compiled from.
func (s *Selector) Pattern() string { return s.pattern }

// Mismatch is the reason for a node that does not qualify. It never contains
// the node's name, so that the scheduler adds equal reasons up.
func (s *Selector) Mismatch() string { return s.mismatch }

// Names lists, in order, the names of all nodes that can match, if the pattern
// is proven to match at least one and only few, as ^(kubecon-1|kubecon-2)$ is.
// Otherwise it is empty, and the nodes' names decide.
func (s *Selector) Names() []string { return s.names }

// Unlisted is the reason for all nodes that Names leaves out.
func (s *Selector) Unlisted() string {
	return "only nodes that match the pod's node name regex " + quote(shorten(s.pattern)) + " were considered"
}

// Match reports whether the pattern matches name anywhere, exactly as Go's
// regexp.MatchString does, however much work that takes. Where pods wait for
// the answer, use a [Cycle].
func (s *Selector) Match(name string) bool {
	d := borrow()
	defer giveBack(d)
	if at := d.warm(s.program.ticket, name); at != unknown {
		return at == matched
	}
	d.use(s.program)
	matches, _ := d.match(name, math.MaxInt)
	return matches
}

// Begin starts a scheduling cycle, or an extender's request.
func (s *Selector) Begin() *Cycle {
	c := &Cycle{selector: s}
	c.left.Store(account)
	return c
}

// Size is about how many bytes of memory the selector holds.
func (s *Selector) Size() int {
	n := int(unsafe.Sizeof(*s)) + len(s.pattern) + len(s.mismatch) + len(s.costly.text) + s.program.size()
	for _, name := range s.names {
		n += len(name) + int(unsafe.Sizeof(name))
	}
	return n
}

// A Cycle matches the nodes of one scheduling cycle. No size of a pattern
// bounds what matching costs, so the cycle does: work is the visit of an
// instruction while a state is built, some nanoseconds, and a name that needs
// more than is left gets an error instead of a verdict. Honest patterns spend a
// small part, once.
//
// It is safe for concurrent use.
type Cycle struct {
	selector *Selector
	left     atomic.Int64 // work, up to about account
}

// A cycle begins with workPerCycle for each processor, since each builds the
// states for the names that it meets, and gets workPerName back with every name.
const (
	workPerCycle = 60_000
	workPerName  = 50
	account      = workPerCycle * processors
)

// Selector is what the cycle matches against.
func (c *Cycle) Selector() *Selector { return c.selector }

// Match reports whether the pattern matches name anywhere. The error, always a
// [*PatternError], says that the cycle's work is spent before that is known.
func (c *Cycle) Match(name string) (bool, error) {
	d := borrow()
	matches, err := c.match(d, name)
	giveBack(d)
	return matches, err
}

// MatchAll calls verdict with the index of each name and what Match says of it,
// and ends at the first error. It is the faster way to ask about many names.
func (c *Cycle) MatchAll(names []string, verdict func(i int, matches bool)) error {
	d := borrow()
	defer giveBack(d)
	for i, name := range names {
		matches, err := c.match(d, name)
		if err != nil {
			return err
		}
		verdict(i, matches)
	}
	return nil
}

// Learn is Match for a name that was asked of [Ticket.Known] in vain.
func (c *Cycle) Learn(name string) (bool, error) {
	d := borrow()
	matches, err := c.build(d, name)
	giveBack(d)
	return matches, err
}

func (c *Cycle) match(d *dfa, name string) (bool, error) {
	at := d.warm(c.selector.program.ticket, name)
	if at == unknown {
		return c.build(d, name)
	}
	if c.left.Load() < account {
		c.left.Add(workPerName)
	}
	return at == matched, nil
}

// build matches a name on whose way states may be missing.
func (c *Cycle) build(d *dfa, name string) (bool, error) {
	left := c.left.Load()
	d.use(c.selector.program)
	matches, ok := d.match(name, int(left)+workPerName)
	if gain := int64(workPerName - d.work); gain < 0 || left < account {
		c.left.Add(gain)
	}
	if !ok {
		return false, c.selector.costly
	}
	return matches, nil
}
