// Package dfa compiles a program of regexp/syntax into a deterministic automaton: a
// table that has the next state for each state and each class of characters. The whole
// table is built at once. So Match takes one look-up for each byte of a name, whatever
// the pattern is and whatever was matched before.
//
// The automaton can be exponential in the size of its program. [Compile] counts its
// steps, and gives up beyond its bounds.
package dfa

import (
	"unicode/utf8"
	"unsafe"
)

// An Automaton reports whether a text has a match. It never changes.
type Automaton struct {
	column [1 << 8]uint8 // of the table, for each byte: its class's, or foreign
	beyond []interval    // of the characters beyond ASCII, in order
	table  []uint16      // a row for each state: the numbers of the next states
	start  uint16
	width  uint16 // half of a row's length
	end    uint8  // the column of the end of a text
}

// interval is the characters up to the next one's, which have one column.
type interval struct {
	first  rune
	column uint8
}

// The first states. Once a text has led there, it stays there. The number of a
// state is where its row begins, halved.
const (
	dead    = iota // no match, whatever follows
	matched        // a match, whatever follows
	foreign        // there was a byte beyond ASCII
	firstState
)

// Match reports whether there is a match anywhere in the text, exactly as
// regexp.MatchString does. It allocates nothing.
func (a *Automaton) Match(text string) bool {
	at := a.walk(text)
	if at == foreign*a.width {
		at = a.walkCharacters(text)
	}
	return at == matched*a.width
}

// walk returns the state to which a text and its end lead. It reads four bytes
// without a branch between them, which takes half the time.
//
// In a guest it is the hot path. So TinyGo must not check what cannot fail: a function
// that might trap keeps all its pointers in memory, for the garbage collector.
//
//go:nobounds
//go:noinline
func (a *Automaton) walk(text string) uint16 {
	a = (*Automaton)(unsafe.Pointer(a)) // is not nil
	at := a.start
	if at < firstState*a.width {
		return a.next(at, a.end)
	}
	for ; len(text) >= 64; text = text[64:] { // few names are so long
		if at = a.thirtyTwo(a.thirtyTwo(at, text), text[32:]); at < firstState*a.width {
			return a.next(at, a.end)
		}
	}
	if len(text)&32 != 0 {
		at = a.thirtyTwo(at, text)
		text = text[32:]
	}
	if len(text)&16 != 0 {
		at = a.sixteen(at, text)
		text = text[16:]
	}
	if at < firstState*a.width {
		return a.next(at, a.end)
	}
	if len(text)&8 != 0 {
		at = a.eight(at, text)
		text = text[8:]
	}
	if len(text)&4 != 0 {
		at = a.four(at, text)
		text = text[4:]
	}
	if len(text)&2 != 0 {
		at = a.next(a.next(at, a.column[text[0]]), a.column[text[1]])
		text = text[2:]
	}
	if len(text)&1 != 0 {
		at = a.next(at, a.column[text[0]])
	}
	return a.next(at, a.end)
}

//go:nobounds
func (a *Automaton) thirtyTwo(at uint16, text string) uint16 {
	a = (*Automaton)(unsafe.Pointer(a))
	if at = a.sixteen(at, text); at < firstState*a.width {
		return at
	}
	return a.sixteen(at, text[16:])
}

//go:nobounds
func (a *Automaton) sixteen(at uint16, text string) uint16 {
	a = (*Automaton)(unsafe.Pointer(a))
	if at = a.eight(at, text); at < firstState*a.width {
		return at
	}
	return a.eight(at, text[8:])
}

//go:nobounds
func (a *Automaton) eight(at uint16, text string) uint16 {
	a = (*Automaton)(unsafe.Pointer(a))
	return a.four(a.four(at, text), text[4:])
}

// four reads four bytes.
//
//go:nobounds
func (a *Automaton) four(at uint16, text string) uint16 {
	a = (*Automaton)(unsafe.Pointer(a))
	_ = text[3]
	at = a.next(a.next(at, a.column[text[0]]), a.column[text[1]])
	return a.next(a.next(at, a.column[text[2]]), a.column[text[3]])
}

// next returns the state that a column of a state's row leads to.
//
//go:nobounds
func (a *Automaton) next(at uint16, column uint8) uint16 {
	a = (*Automaton)(unsafe.Pointer(a))
	return a.table[int(at)<<1+int(column)]
}

// walkCharacters is walk for texts that have characters beyond ASCII, as no name
// of a node has.
//
//go:noinline
func (a *Automaton) walkCharacters(text string) uint16 {
	at := a.start
	for _, r := range text { // as regexp decodes it
		if r < utf8.RuneSelf {
			at = a.next(at, a.column[r])
		} else {
			at = a.next(at, a.columnBeyond(r))
		}
	}
	return a.next(at, a.end)
}

func (a *Automaton) columnBeyond(r rune) uint8 {
	low, high := 0, len(a.beyond)
	for high-low > 1 {
		if middle := (low + high) / 2; a.beyond[middle].first <= r {
			low = middle
		} else {
			high = middle
		}
	}
	return a.beyond[low].column
}

// Size is about how many bytes of memory the automaton holds.
func (a *Automaton) Size() int {
	return int(unsafe.Sizeof(*a)) + cap(a.table)*2 + cap(a.beyond)*int(unsafe.Sizeof(interval{}))
}
