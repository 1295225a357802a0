package dfa

import "regexp/syntax"

// context says what kind of character a state follows. Only a state that has an
// assertion about the next character needs it.
type context uint8

const (
	nothing context = iota
	other
	newline
	word
	beginning
)

// before has a character for each context that stands for it.
var before = [...]rune{' ', ' ', '\n', 'a', endOfText}

// endOfText stands for the character before the first, and behind the last.
const endOfText rune = -1

// onNext are the assertions that cannot be decided before the next character is
// known, and onLast those that can.
const (
	onNext = syntax.EmptyEndText | syntax.EmptyEndLine | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
	onLast = syntax.EmptyBeginText | syntax.EmptyBeginLine
)

// begins lists the assertions that hold whatever comes next.
func (c context) begins() syntax.EmptyOp { return syntax.EmptyOpContext(before[c], ' ') & onLast }

// after is the context behind r, as far as the program asks for it.
func (b *builder) after(r rune) context {
	switch {
	case r == '\n' && b.asks&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0:
		return newline
	case syntax.IsWordChar(r) && b.asks&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0:
		return word
	}
	return other
}

// alike are columns that the same members read, and in which the base leads to
// the same state.
type alike struct {
	readers      uint64
	base, number uint16
	after        context
}

// leadsAlike is leads, but computes the state once for columns that are alike.
func (b *builder) leadsAlike(context context, members []uint16, column int, base uint16) uint16 {
	if context != nothing || len(members) > 64 || column == b.end() {
		return b.leads(context, members, column, base)
	}
	a := alike{base: base, after: b.after(b.sample[column])}
	for i, pc := range members {
		if b.readBy(pc).has(column) {
			a.readers |= 1 << i
		}
	}
	b.work += (len(members) + len(b.alike)) / 4
	for _, known := range b.alike {
		if a.number = known.number; a == known {
			return a.number
		}
	}
	a.number = b.leads(context, members, column, base)
	b.alike = append(b.alike, a)
	return a.number
}

// leads returns the number of the state to which members lead, and the base to
// another one. Of the base itself they are all.
func (b *builder) leads(context context, members []uint16, column int, base uint16) uint16 {
	b.to.empty()
	if base >= firstState {
		s := &b.states[base]
		for _, pc := range b.members[s.from:s.to] {
			b.add(&b.to, pc)
		}
		b.work += s.to - s.from
	}
	r, after := endOfText, nothing
	if column < b.end() {
		r = b.sample[column]
		after = b.after(r)
	}
	switch {
	case b.step(members, column, syntax.EmptyOpContext(before[context], r), after.begins()):
		return matched
	case r == endOfText:
		return dead
	case after == newline && b.follow(&b.to, b.begin, after.begins(), onNext): // begin anew
		return matched
	}
	return b.settle(after)
}

// step adds to b.to what members lead to by reading a character of a class, or
// the end, given the assertions that hold before it, and behind it. It reports
// whether that is a match.
func (b *builder) step(members []uint16, column int, before, behind syntax.EmptyOp) bool {
	b.through.empty()
	for _, pc := range members {
		inst := &b.insts[pc]
		if inst.Op != syntax.InstEmptyWidth {
			if b.readBy(pc).has(column) && b.follow(&b.to, inst.Out, behind, onNext) {
				return true
			}
		} else if syntax.EmptyOp(inst.Arg)&^before == 0 && b.follow(&b.through, inst.Out, before, 0) {
			return true
		}
	}
	for _, pc := range b.through.pcs {
		if b.readBy(pc).has(column) && b.follow(&b.to, b.insts[pc].Out, behind, onNext) {
			return true
		}
	}
	b.work += len(members) + len(b.through.pcs)
	return false
}

// readBy returns the columns that may matter to an instruction.
func (b *builder) readBy(pc uint16) *columnSet {
	if b.insts[pc].Op == syntax.InstEmptyWidth {
		return &all
	}
	return &b.reads[b.set[pc]]
}

var all = columnSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// follow adds to a list every instruction that pc leads to without reading a
// character, given the assertions that hold. Those in open cannot be decided
// yet: they become members. It reports whether pc leads to a match.
func (b *builder) follow(into *list, pc uint32, holds, open syntax.EmptyOp) bool {
	todo := append(b.todo[:0], pc)
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		b.work++
		if into.seen[pc] == into.time {
			continue
		}
		into.seen[pc] = into.time
		switch inst := &b.insts[pc]; inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, inst.Out, inst.Arg)
		case syntax.InstEmptyWidth:
			if asks := syntax.EmptyOp(inst.Arg) &^ holds; asks == 0 {
				todo = append(todo, inst.Out)
			} else if asks&^open == 0 {
				b.add(into, uint16(pc))
			}
		case syntax.InstFail:
		default:
			b.add(into, uint16(pc))
		}
	}
	b.todo = todo
	return false
}

// settle returns the number of the state of b.to and the base, after a character of
// that context.
func (b *builder) settle(context context) uint16 {
	switch {
	case b.base.open || b.to.open:
		return b.number(context)
	case len(b.to.pcs)+len(b.base.pcs) == 0 && b.asks&syntax.EmptyBeginLine == 0:
		return dead
	}
	return b.number(nothing)
}

// number returns the number of a state, and makes one if there is none.
func (b *builder) number(context context) uint16 {
	hash := b.to.hash ^ uint64(context)<<56
	slot := int(hash >> 32 % uint64(len(b.index)))
	for ; b.index[slot] != 0; slot = (slot + 1) % len(b.index) {
		n := b.index[slot]
		if s := &b.states[n]; s.hash == hash && s.context == context && b.is(b.members[s.from:s.to]) {
			return n
		}
	}
	n, from := len(b.states), len(b.members)
	if n == maxStates || (n+1)*b.rowLength() > maxEntries {
		b.full = true
		return dead
	}
	b.members = append(b.members, b.to.pcs...)
	b.states = append(b.states, state{from, len(b.members), context, hash})
	b.index[slot] = uint16(n)
	return uint16(n)
}
