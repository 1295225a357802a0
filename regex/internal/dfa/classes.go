package dfa

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A class is characters that no instruction and no assertion tells apart. Each has a
// column of the table. The last class is the end of a text.
type class struct {
	sample rune    // one of the characters
	behind context // of a state behind such a character
	in     []bool  // whether each set contains the class
}

// maxClasses is how many columns there can be.
const maxClasses = 256

// classify divides all characters into classes. It reports whether that is within the
// bounds.
func (b *builder) classify() bool {
	b.findSets()
	b.divide()
	for _, first := range b.first {
		b.work += len(b.sets) + 8
		if b.work > maxWork || len(b.classes) == maxClasses {
			return false
		}
		known := len(b.in)
		for _, set := range b.sets {
			b.in = append(b.in, set.MatchRune(first))
		}
		in := b.in[known:]
		behind := b.behind(first)
		column := slices.IndexFunc(b.classes, func(c class) bool { return c.behind == behind && slices.Equal(c.in, in) })
		if column < 0 {
			column = len(b.classes)
			b.classes = append(b.classes, class{first, behind, in})
		} else {
			b.in = b.in[:known]
		}
		n := len(b.intervals)
		if n == 0 || b.intervals[n-1].column != uint8(column) {
			b.intervals = append(b.intervals, interval{first, uint8(column)})
		}
	}
	b.classes = append(b.classes, class{sample: endOfText, in: make([]bool, len(b.sets))})
	return len(b.classes) <= maxClasses
}

// findSets finds out which set of characters each instruction reads.
func (b *builder) findSets() {
	for pc := range b.insts {
		inst := &b.insts[pc]
		if !isReader(inst) {
			continue
		}
		n := slices.IndexFunc(b.sets, func(set *syntax.Inst) bool {
			return set.Arg == inst.Arg && slices.Equal(set.Rune, inst.Rune) // Arg is whether case is folded
		})
		if n < 0 {
			n, b.sets = len(b.sets), append(b.sets, inst)
		}
		b.set[pc] = uint16(n)
		b.work += 1 + n/8 + len(inst.Rune)/32
	}
}

// divide finds where intervals of characters begin: wherever a set or an assertion
// tells a character from the one before it.
func (b *builder) divide() {
	b.first = append(b.first, 0, '\n', '\n'+1, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1, utf8.RuneSelf)
	for _, set := range b.sets {
		if len(set.Rune) == 1 {
			char := set.Rune[0]
			b.first = append(b.first, char, char+1)
			for other := unicode.SimpleFold(char); other != char; other = unicode.SimpleFold(other) { // if case is folded
				b.first = append(b.first, other, other+1)
			}
		}
		for i := 1; i < len(set.Rune); i += 2 {
			b.first = append(b.first, set.Rune[i-1], set.Rune[i]+1)
		}
		b.work += 16 * len(set.Rune) // they are sorted
	}
	slices.Sort(b.first)
	b.first = slices.Compact(b.first)
}

// isReader reports whether an instruction reads a character.
func isReader(inst *syntax.Inst) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}
