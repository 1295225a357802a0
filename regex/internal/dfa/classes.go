package dfa

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// classes divides all characters into classes that no instruction of a program
// tells apart. Each has a column of the table.
type classes struct {
	first  []rune      // where intervals of characters begin, in order
	column []uint8     // the class of each
	sample []rune      // a character of each class
	set    []uint16    // which set of characters an instruction reads
	reads  []columnSet // the columns of each set
}

// columnSet has a bit for each column.
type columnSet [4]uint64

// maxClasses leaves columns for the end of a text, and for bytes beyond ASCII.
const maxClasses = 254

func (s *columnSet) has(column int) bool { return s[column>>6]&(1<<(column&63)) != 0 }

// classify finds the classes, and reports whether they are within the bounds.
func (b *builder) classify() bool {
	readers := b.readers()
	if b.work > maxWork {
		return false
	}
	slices.Sort(b.first)
	b.first = slices.Compact(b.first)
	if b.work += len(b.first) * (len(readers) + 8); b.work > maxWork {
		return false
	}
	b.reads = make([]columnSet, len(readers))
	known := map[string]uint8{}
	key := make([]byte, 1+(len(readers)+7)/8) // in which sets an interval is
	for _, first := range b.first {
		clear(key)
		key[0] = byte(b.after(first))
		for n, inst := range readers {
			if inst.MatchRune(first) {
				key[1+n/8] |= 1 << (n % 8)
			}
		}
		column, ok := known[string(key)]
		if !ok {
			if len(known) == maxClasses {
				return false
			}
			column = uint8(len(known))
			known[string(key)] = column
			b.sample = append(b.sample, first)
			for n := range readers {
				b.reads[n][column>>6] |= uint64(key[1+n/8]>>(n%8)&1) << (column & 63)
			}
		}
		b.column = append(b.column, column)
	}
	return true
}

// readers returns an instruction for each set, and collects where intervals begin:
// at the characters that instructions and assertions tell from others.
func (b *builder) readers() (readers []*syntax.Inst) {
	b.first = []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1, utf8.RuneSelf}
	b.set = make([]uint16, len(b.insts))
	var single [2][utf8.RuneSelf]int // one more than the sets of one character, folded or not
	for pc := range b.insts {
		inst := &b.insts[pc]
		if !isReader(inst) || b.work > maxWork {
			continue
		}
		n, known := -1, new(int)
		if len(inst.Rune) == 1 && inst.Rune[0] < utf8.RuneSelf {
			known = &single[inst.Arg&uint32(syntax.FoldCase)][inst.Rune[0]]
			n = *known - 1
		} else {
			late := max(0, len(readers)-16) // what is repeated has few sets
			if n = slices.IndexFunc(readers[late:], func(other *syntax.Inst) bool { return sameSet(inst, other) }); n >= 0 {
				n += late
			}
			b.work += 8
		}
		if n < 0 {
			n = len(readers)
			*known = n + 1
			readers = append(readers, inst)
			b.divide(inst)
		}
		b.set[pc] = uint16(n)
	}
	return readers
}

// sameSet reports whether two instructions are copies of one, as those of a
// repeat are.
func sameSet(a, b *syntax.Inst) bool {
	return a.Op == b.Op && len(a.Rune) == len(b.Rune) && (len(a.Rune) == 0 || &a.Rune[0] == &b.Rune[0])
}

func (b *builder) divide(inst *syntax.Inst) {
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
