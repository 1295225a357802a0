package dfa

import "regexp/syntax"

// context says what kind of character a state follows. Only a state that has an
// assertion about the next character needs it.
type context uint8

const (
	other context = iota
	newline
	word
	beginning
	contexts = iota
)

// before has a character for each context that stands for it.
var before = [contexts]rune{' ', '\n', 'a', endOfText}

// endOfText stands for the character before the first, and behind the last.
const endOfText rune = -1

// onNext are the assertions that cannot be decided before the next character is
// known, and onLast the ones that can.
const (
	onNext = syntax.EmptyEndText | syntax.EmptyEndLine | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
	onLast = syntax.EmptyBeginText | syntax.EmptyBeginLine
)

// begins lists the assertions that hold whatever comes next.
func (c context) begins() syntax.EmptyOp { return syntax.EmptyOpContext(before[c], ' ') & onLast }

// behind is the context behind a character, as far as the program asks for it.
func (b *builder) behind(char rune) context {
	switch {
	case char == '\n' && b.asks&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0:
		return newline
	case syntax.IsWordChar(char) && b.asks&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0:
		return word
	}
	return other
}

// set is a set of instructions that read characters, and of assertions that are not
// decided.
type set struct {
	members []uint16
	visited []uint16 // the members, and what was passed on the way to them
	has     []bool   // whether an instruction was visited
}

func (s *set) visit(pc uint16) (first bool) {
	if s.has[pc] {
		return false
	}
	s.has[pc] = true
	s.visited = append(s.visited, pc)
	return true
}

func (s *set) clear() {
	for _, pc := range s.visited {
		s.has[pc] = false
	}
	s.members, s.visited = s.members[:0], s.visited[:0]
}

func (b *builder) isAssertion(pc uint16) bool { return b.insts[pc].Op == syntax.InstEmptyWidth }

// next returns the number of the state to which a state leads by a column.
func (b *builder) next(s state, column int) uint16 {
	members := s.members
	ofBase := uint16(dead) // where the base alone leads
	isBase := len(members) == 0
	if isBase {
		members = b.base.members
	} else {
		ofBase = b.ofBase(s, column)
		if ofBase == matched {
			return matched
		}
	}
	class := &b.classes[column]
	if s.open {
		b.from.clear()
		for _, pc := range members { // decide the assertions
			if b.follow(&b.from, uint32(pc), syntax.EmptyOpContext(before[s.context], class.sample), 0) {
				return matched
			}
		}
		members = b.from.members
	}
	if class.sample == endOfText {
		return dead
	}
	b.to.clear()
	b.work += 1 + len(members)/4
	holds := class.behind.begins()
	for _, pc := range members {
		if class.in[b.set[pc]] && b.follow(&b.to, b.insts[pc].Out, holds, onNext) {
			return matched
		}
	}
	if isBase { // a match may begin here
		if b.follow(&b.to, b.begin, holds, onNext) {
			return matched
		}
	} else if len(b.to.members) == 0 {
		return ofBase
	}
	for _, pc := range b.states[ofBase].members {
		if b.to.visit(pc) {
			b.to.members = append(b.to.members, pc)
		}
	}
	return b.number(class.behind)
}

// follow adds to a set every instruction that pc leads to without reading a
// character, given the assertions that hold. Those in open cannot be decided yet. It
// reports whether pc leads to a match.
func (b *builder) follow(into *set, pc uint32, holds, open syntax.EmptyOp) (matches bool) {
	b.todo = append(b.todo[:0], pc)
	for len(b.todo) > 0 {
		pc := b.todo[len(b.todo)-1]
		b.todo = b.todo[:len(b.todo)-1]
		b.work++
		if !into.visit(uint16(pc)) {
			continue
		}
		switch inst := &b.insts[pc]; inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstFail:
		case syntax.InstAlt, syntax.InstAltMatch:
			b.todo = append(b.todo, inst.Out, inst.Arg)
		case syntax.InstNop, syntax.InstCapture:
			b.todo = append(b.todo, inst.Out)
		case syntax.InstEmptyWidth:
			asks := syntax.EmptyOp(inst.Arg) &^ holds
			if asks == 0 {
				b.todo = append(b.todo, inst.Out)
			} else if asks&^open == 0 {
				into.members = append(into.members, uint16(pc))
			}
		default:
			into.members = append(into.members, uint16(pc))
		}
	}
	return false
}
