package regex

import (
	"regexp/syntax"
	"strconv"
	"unicode"
	"unsafe"
)

// program is a compiled pattern in the form that the DFA reads. It never
// changes after it was made.
type program struct {
	insts []syntax.Inst
	start uint32

	// class maps a byte of ASCII to its class: no instruction tells two
	// characters of one class apart.
	class [128]uint8
	// sample holds one character of every class.
	sample []rune

	// afterLines is set if a match may begin only after a newline, so that a
	// name is not lost as long as one may follow.
	afterLines bool
}

// newProgram parses and compiles a pattern. An error is worded for a person.
func newProgram(pattern string) (*program, string) {
	if problem := checkText(pattern); problem != "" {
		return nil, problem
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, problem(pattern, err)
	}
	if instructions(tree) > maxInstructions {
		return nil, "the pattern is too costly: with its repeats written out it may hold at most " +
			strconv.Itoa(maxInstructions) + " characters and operators"
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err.Error()
	}
	p := &program{insts: prog.Inst, start: uint32(prog.Start)}
	p.classify()
	return p, ""
}

// classify finds the classes of ASCII: a class begins wherever some
// instruction begins or ends to match.
func (p *program) classify() {
	var begins [129]bool
	begins[0] = true
	for i := range p.insts {
		inst := &p.insts[i]
		markBounds(&begins, inst)
		if inst.Op == syntax.InstEmptyWidth && syntax.EmptyOp(inst.Arg)&syntax.EmptyBeginLine != 0 {
			p.afterLines = true
		}
	}
	for c := range p.class {
		if begins[c] {
			p.sample = append(p.sample, rune(c))
		}
		p.class[c] = uint8(len(p.sample) - 1)
	}
}

// markBounds marks the characters at which an instruction changes its mind.
func markBounds(begins *[129]bool, inst *syntax.Inst) {
	switch inst.Op {
	case syntax.InstRune1:
		markRange(begins, inst.Rune[0], inst.Rune[0])
	case syntax.InstRuneAnyNotNL:
		markRange(begins, '\n', '\n')
	case syntax.InstRune:
		if len(inst.Rune) == 1 { // a single character, perhaps with its other case
			markFolded(begins, inst.Rune[0], syntax.Flags(inst.Arg))
			return
		}
		for i := 0; i+1 < len(inst.Rune) && inst.Rune[i] < 128; i += 2 {
			markRange(begins, inst.Rune[i], inst.Rune[i+1])
		}
	case syntax.InstEmptyWidth:
		markAssertion(begins, syntax.EmptyOp(inst.Arg))
	}
}

// markFolded marks r and, if its case is ignored, all its other cases.
func markFolded(begins *[129]bool, r rune, flags syntax.Flags) {
	markRange(begins, r, r)
	if flags&syntax.FoldCase == 0 {
		return
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		markRange(begins, f, f)
	}
}

func markAssertion(begins *[129]bool, op syntax.EmptyOp) {
	if op&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0 {
		markRange(begins, '\n', '\n')
	}
	if op&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
		markRange(begins, '0', '9')
		markRange(begins, 'A', 'Z')
		markRange(begins, '_', '_')
		markRange(begins, 'a', 'z')
	}
}

func markRange(begins *[129]bool, low, high rune) {
	if low < 128 {
		begins[low] = true
		begins[min(high, 127)+1] = true
	}
}

// size is about how many bytes of memory the program holds.
func (p *program) size() int {
	n := int(unsafe.Sizeof(*p)) + len(p.insts)*int(unsafe.Sizeof(syntax.Inst{}))
	for i := range p.insts {
		n += 4 * cap(p.insts[i].Rune)
	}
	return n
}
