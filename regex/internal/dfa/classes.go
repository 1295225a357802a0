package dfa

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// classes divides all characters into classes that no instruction of a program
// tells apart. Each has a column of the table.
type classes struct {
	first   []rune      // where intervals of characters begin, in order
	column  []uint8     // the class of each
	sample  []rune      // a character of each class
	set     []uint16    // which set of characters an instruction reads
	readers []uint16    // an instruction that reads each set
	reads   []columnSet // the columns of each set
	keys    []byte      // of the classes
}

// columnSet has a bit for each column.
type columnSet [4]uint64

// maxClasses leaves columns for the end of a text, and for bytes beyond ASCII.
const maxClasses = 254

func (s *columnSet) has(column int) bool { return s[column>>6]&(1<<(column&63)) != 0 }

// classify finds the classes, and reports whether they are within the bounds.
func (b *builder) classify() bool {
	b.divide()
	if b.work > maxWork {
		return false
	}
	slices.Sort(b.first)
	b.first = slices.Compact(b.first)
	if b.work += len(b.first) * (len(b.readers) + 8); b.work > maxWork {
		return false
	}
	b.reads, b.column, b.sample, b.keys = zeroed(b.reads, len(b.readers)), b.column[:0], b.sample[:0], b.keys[:0]
	for _, first := range b.first {
		column := b.classOf(first)
		if column == maxClasses {
			return false
		}
		b.column = append(b.column, uint8(column))
	}
	return true
}

// classOf returns the class of a character, which may be new. Its key is what
// assertions can know of it, and a bit for each set that it is in.
func (b *builder) classOf(r rune) (column int) {
	width, last := 1+(len(b.readers)+7)/8, len(b.keys)
	b.keys = slices.Grow(b.keys, width)[:last+width]
	key := b.keys[last:]
	clear(key)
	key[0] = byte(b.after(r))
	for n, reader := range b.readers {
		if b.insts[reader].MatchRune(r) {
			key[1+n/8] |= 1 << (n % 8)
		}
	}
	for ; column < len(b.sample); column++ {
		if bytes.Equal(b.keys[column*width:][:width], key) {
			b.keys = b.keys[:last]
			return column
		}
	}
	b.work += column
	b.sample = append(b.sample, r)
	for n := range b.readers {
		b.reads[n][column>>6] |= uint64(key[1+n/8]>>(n%8)&1) << (column & 63)
	}
	return column
}

// divide finds where intervals begin, at the characters that instructions and
// assertions tell from others, and an instruction for each set.
func (b *builder) divide() {
	b.first = append(b.first[:0], 0, '\n', '\n'+1, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1, utf8.RuneSelf)
	b.set, b.readers = zeroed(b.set, len(b.insts)), b.readers[:0]
	var single [2][utf8.RuneSelf]uint16 // one more than the sets of one character, folded or not
	for pc := range b.insts {
		inst := &b.insts[pc]
		if !isReader(inst) || b.work > maxWork {
			continue
		}
		known := new(uint16)
		if len(inst.Rune) == 1 && inst.Rune[0] < utf8.RuneSelf {
			known = &single[inst.Arg&uint32(syntax.FoldCase)][inst.Rune[0]]
		} else {
			*known = b.readAlready(inst)
		}
		if *known == 0 {
			b.readers = append(b.readers, uint16(pc))
			b.divideBy(inst)
			*known = uint16(len(b.readers))
		}
		b.set[pc] = *known - 1
	}
}

// readAlready returns one more than the set of an instruction that is a copy of
// another one, as those of a repeat are, or zero.
func (b *builder) readAlready(inst *syntax.Inst) uint16 {
	b.work += 8
	for n := len(b.readers); n > max(0, len(b.readers)-16); n-- { // what is repeated has few sets
		other := &b.insts[b.readers[n-1]]
		if other.Op == inst.Op && len(other.Rune) == len(inst.Rune) && (len(inst.Rune) == 0 || &other.Rune[0] == &inst.Rune[0]) {
			return uint16(n)
		}
	}
	return 0
}

func (b *builder) divideBy(inst *syntax.Inst) {
	for i := 1; i < len(inst.Rune); i += 2 {
		b.first = append(b.first, inst.Rune[i-1], inst.Rune[i]+1)
	}
	if len(inst.Rune) == 1 {
		b.first = append(b.first, inst.Rune[0], inst.Rune[0]+1)
		for r := unicode.SimpleFold(inst.Rune[0]); r != inst.Rune[0]; r = unicode.SimpleFold(r) { // if it is folded
			b.first = append(b.first, r, r+1)
		}
	}
	b.work += 16 * len(inst.Rune) // they are sorted
}

// isReader reports whether an instruction reads a character.
func isReader(inst *syntax.Inst) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}
