package regex

import "regexp/syntax"

// context is what a position in a name knows of the character before it, as
// far as the assertions ^ $ \A \z \b \B ask. Node names rarely meet it: a
// state whose instructions assert nothing has the context 0.
type context uint8

const (
	atBeginText context = 1 << iota // nothing comes before
	atBeginLine                     // nothing, or a newline, comes before
	afterWord                       // a letter, digit or underscore comes before
	asserting                       // the state does assert something
)

// endOfText stands for the character after the last.
const endOfText rune = -1

// contextAfter is the context of the position behind r.
func contextAfter(r rune) context {
	switch {
	case r == '\n':
		return atBeginLine
	case syntax.IsWordChar(r):
		return afterWord
	}
	return 0
}

// begins lists the assertions that hold whatever comes next.
func (c context) begins() (holds syntax.EmptyOp) {
	if c&atBeginText != 0 {
		holds |= syntax.EmptyBeginText
	}
	if c&atBeginLine != 0 {
		holds |= syntax.EmptyBeginLine
	}
	return holds
}

// before lists the assertions that hold if r comes next.
func (c context) before(r rune) syntax.EmptyOp {
	holds := c.begins()
	if r == endOfText {
		holds |= syntax.EmptyEndText | syntax.EmptyEndLine
	}
	if r == '\n' {
		holds |= syntax.EmptyEndLine
	}
	if (c&afterWord != 0) != syntax.IsWordChar(r) {
		return holds | syntax.EmptyWordBoundary
	}
	return holds | syntax.EmptyNoWordBoundary
}

// onNext are the assertions that cannot be decided before the next character
// is known.
const onNext = syntax.EmptyEndText | syntax.EmptyEndLine |
	syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
