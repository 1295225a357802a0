// Package dfa compiles a program of regexp/syntax into a deterministic automaton: a
// table that has the next state for each state and each class of characters. [Compile]
// builds the whole table at once, so Match takes one look-up for each character of a
// name, whatever the pattern is and whatever was matched before.
//
// The automaton can be exponential in the size of its program. [Compile] counts its
// steps, and gives up beyond its bounds.
package dfa

import (
	"slices"
	"unicode/utf8"
	"unsafe"
)

// An Automaton reports whether a text has a match. It never changes.
type Automaton struct {
	table     []uint16             // a row for each state: the next state for each column
	width     int                  // of a row: a column for each class, and one for the end of a text
	start     uint16               // the state before the first character
	ascii     [utf8.RuneSelf]uint8 // the column of each ASCII character
	intervals []interval           // of all characters, in order
}

// interval is the characters up to the first of the next interval. All have one column.
type interval struct {
	first  rune
	column uint8
}

// The first states. No character leads out of them.
const (
	dead = iota // no match, whatever follows
	matched
	firstState
)

// Match reports whether there is a match anywhere in the text, exactly as
// regexp.MatchString does. It allocates nothing.
func (a *Automaton) Match(text string) bool {
	state := a.start
	for i := 0; i < len(text) && state >= firstState; {
		column, size := uint8(0), 1
		if text[i] < utf8.RuneSelf {
			column = a.ascii[text[i]]
		} else {
			column, size = a.beyondASCII(text[i:])
		}
		state = a.table[int(state)*a.width+int(column)]
		i += size
	}
	return a.table[int(state)*a.width+a.width-1] == matched
}

// beyondASCII returns the column of the first character of a text, and its size.
func (a *Automaton) beyondASCII(text string) (column uint8, size int) {
	char, size := utf8.DecodeRuneInString(text)
	i, found := slices.BinarySearchFunc(a.intervals, char, func(in interval, char rune) int { return int(in.first - char) })
	if !found {
		i-- // it began before
	}
	return a.intervals[i].column, size
}

// Size is about how many bytes of memory the automaton holds.
func (a *Automaton) Size() int {
	return int(unsafe.Sizeof(*a)) + cap(a.table)*2 + cap(a.intervals)*int(unsafe.Sizeof(interval{}))
}
