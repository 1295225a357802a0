package regex

import (
	"regexp/syntax"
	"unicode"
)

// classes divides ASCII into classes of characters that no instruction of a
// program tells apart.
type classes struct {
	// class maps a character to its class.
	class [128]uint8
	// readers holds for each class the instructions that read it, and codes the
	// codes of its characters, a bit each.
	readers []set
	codes   []uint64
}

// classify finds the classes: one begins wherever some instruction begins or
// ends to match.
func classify(insts []syntax.Inst) classes {
	var begins [129]bool
	mark := func(low, high rune) { begins[low], begins[high+1] = true, true }
	mark(0, 127)
	for i := range insts {
		tells(&insts[i], mark)
	}
	var c classes
	for r := range rune(128) {
		if begins[r] {
			c.readers = append(c.readers, make(set, (len(insts)+63)/64))
			c.codes = append(c.codes, 0)
		}
		class := len(c.readers) - 1
		c.class[r] = uint8(class)
		if code, ok := encode(r); ok {
			c.codes[class] |= 1 << code
		}
	}
	for pc := range insts {
		reads(&insts[pc], func(low, high rune) {
			for class := c.class[low]; class <= c.class[high]; class++ {
				c.readers[class].add(uint32(pc))
			}
		})
	}
	return c
}

// tells yields the ranges of ASCII that an instruction tells from the rest: by
// reading them or, if it is an assertion, by looking at them.
func tells(inst *syntax.Inst, yield func(low, high rune)) {
	reads(inst, yield)
	if inst.Op != syntax.InstEmptyWidth {
		return
	}
	switch op := syntax.EmptyOp(inst.Arg); {
	case op&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0:
		yield('\n', '\n')
	case op&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0:
		yield('0', '9')
		yield('A', 'Z')
		yield('_', '_')
		yield('a', 'z')
	}
}

// reads yields the ranges of ASCII that an instruction reads.
func reads(inst *syntax.Inst, yield func(low, high rune)) {
	switch inst.Op {
	case syntax.InstRuneAny:
		yield(0, 127)
	case syntax.InstRuneAnyNotNL:
		yield(0, '\n'-1)
		yield('\n'+1, 127)
	case syntax.InstRune, syntax.InstRune1:
		if len(inst.Rune) == 1 {
			readsOne(inst.Rune[0], syntax.Flags(inst.Arg), yield)
			return
		}
		for i := 0; i+1 < len(inst.Rune) && inst.Rune[i] < 128; i += 2 {
			yield(inst.Rune[i], min(inst.Rune[i+1], 127))
		}
	}
}

// readsOne yields r and, if its case is ignored, its other cases.
func readsOne(r rune, flags syntax.Flags, yield func(low, high rune)) {
	for f := r; ; {
		if f < 128 {
			yield(f, f)
		}
		if f = unicode.SimpleFold(f); f == r || flags&syntax.FoldCase == 0 {
			return
		}
	}
}

// readsRune reports whether an instruction reads r, whatever r is.
func readsRune(inst *syntax.Inst, r rune) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return inst.MatchRune(r)
	}
	return false
}
