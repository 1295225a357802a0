package regex

import (
	"math/bits"
	"regexp/syntax"
	"unicode/utf8"
)

// scratch is what a step works with.
type scratch struct {
	from, to, seen set
	todo           []uint32 // stack of follow
	undecided      bool     // whether to has an assertion about what comes next
	work, limit    int      // instructions visited, and words of sets, since match began
}

// fit makes the sets so many words long.
func (s *scratch) fit(words int) {
	if cap(s.from) < words {
		s.from, s.to, s.seen = make(set, words), make(set, words), make(set, words)
		s.todo = make([]uint32, 0, 2*64*words)
	}
	s.from, s.to, s.seen = s.from[:words], s.to[:words], s.seen[:words]
}

// empty prepares to for what follow adds.
func (s *scratch) empty() {
	s.to.clear()
	s.seen.clear()
	s.undecided = false
}

// first makes the state before the first character, or returns unknown if the
// limit is reached.
func (d *dfa) first() row {
	if d.work >= d.limit {
		return unknown
	}
	before := atBeginText | atBeginLine
	d.empty()
	if d.follow(d.to, d.program.start, before.begins(), onNext) {
		return matched
	}
	return d.settle(before)
}

// step returns the state that reading r at a state leads to, or unknown if the
// limit is reached.
func (d *dfa) step(at row, r rune) row {
	if d.work >= d.limit {
		return unknown
	}
	d.work += d.words
	if d.load(at, r) {
		return matched
	}
	if r == endOfText {
		return dead
	}
	after := contextAfter(r)
	holds := after.begins()
	d.empty()
	d.keepReaders(r)
	for i, word := range d.from {
		for ; word != 0; word &= word - 1 {
			inst := &d.program.insts[i<<6+bits.TrailingZeros64(word)]
			if d.follow(d.to, inst.Out, holds, onNext) {
				return matched
			}
		}
	}
	// A match may begin behind any character.
	if d.follow(d.to, d.program.start, holds, onNext) {
		return matched
	}
	return d.settle(after)
}

// keepReaders leaves in from only what reads r.
func (d *dfa) keepReaders(r rune) {
	if r < utf8.RuneSelf {
		for i, word := range d.program.readers[d.program.class[r]] {
			d.from[i] &= word
		}
		return
	}
	for pc := range d.program.insts {
		if d.from.has(uint32(pc)) && !readsRune(&d.program.insts[pc], r) {
			d.from.remove(uint32(pc))
		}
	}
	d.work += len(d.program.insts)
}

// settle returns the state of the set in to, behind a character of that
// context, of which only a state that asserts something needs to know.
func (d *dfa) settle(after context) row {
	if d.undecided {
		return d.state(after | asserting)
	}
	if d.to.empty() && !d.program.afterLines {
		return dead
	}
	return d.state(0)
}

// load copies a state's set into from, and adds what follows from the
// assertions that hold now that the next character is known. It reports whether
// that matches.
func (d *dfa) load(at row, r rune) bool {
	n := d.number(at)
	copy(d.from, d.members[n*d.words:])
	if d.contexts[n] == 0 {
		return false
	}
	holds := d.contexts[n].before(r)
	d.seen.clear()
	for i, word := range d.from {
		for ; word != 0; word &= word - 1 {
			inst := &d.program.insts[i<<6+bits.TrailingZeros64(word)]
			d.work++
			if inst.Op == syntax.InstEmptyWidth && syntax.EmptyOp(inst.Arg)&^holds == 0 &&
				d.follow(d.from, inst.Out, holds, 0) {
				return true
			}
		}
	}
	return false
}

// follow adds to a set every instruction that pc leads to without reading a
// character, given the assertions that hold. Those in open cannot be decided
// yet: they become members. It reports whether pc leads to a match.
func (d *dfa) follow(into set, pc uint32, holds, open syntax.EmptyOp) bool {
	todo := append(d.todo[:0], pc)
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		d.work++
		if d.seen.has(pc) {
			continue
		}
		d.seen.add(pc)
		inst := &d.program.insts[pc]
		switch inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, inst.Out, inst.Arg)
		case syntax.InstNop, syntax.InstCapture:
			todo = append(todo, inst.Out)
		case syntax.InstEmptyWidth:
			switch asks := syntax.EmptyOp(inst.Arg) &^ holds; {
			case asks == 0:
				todo = append(todo, inst.Out)
			case asks&^open == 0:
				into.add(pc)
				d.undecided = true
			}
		case syntax.InstFail:
		default:
			into.add(pc)
		}
	}
	return false
}
