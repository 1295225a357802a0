package regex

import (
	"regexp/syntax"
	"strconv"
	"sync/atomic"
	"unsafe"
)

// program is a compiled pattern in the form that the DFA reads. It never
// changes after it was made.
type program struct {
	ticket Ticket // no other program has it
	insts  []syntax.Inst
	start  uint32
	classes

	// afterLines is set if a match may begin only after a newline, so that a
	// name is not lost as long as one may follow.
	afterLines bool
}

// tickets counts the programs. At a thousand a second it begins anew after seven
// weeks, and nothing lives that long without being used.
var tickets atomic.Uint32

// newProgram parses and compiles a pattern. What is wrong with it is worded for
// a person.
func newProgram(pattern string) (p *program, wrong string) {
	if wrong := checkText(pattern); wrong != "" {
		return nil, wrong
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
	p = &program{ticket: Ticket(tickets.Add(1)), insts: prog.Inst, start: uint32(prog.Start), classes: classify(prog.Inst)}
	for i := range p.insts {
		p.shortcut(&p.insts[i])
	}
	return p, ""
}

// shortcut leads an instruction past those that do nothing.
func (p *program) shortcut(inst *syntax.Inst) {
	inst.Out = p.skip(inst.Out)
	switch inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		inst.Arg = p.skip(inst.Arg)
	case syntax.InstEmptyWidth:
		p.afterLines = p.afterLines || syntax.EmptyOp(inst.Arg)&syntax.EmptyBeginLine != 0
	}
}

func (p *program) skip(pc uint32) uint32 {
	for p.insts[pc].Op == syntax.InstNop || p.insts[pc].Op == syntax.InstCapture {
		pc = p.insts[pc].Out
	}
	return pc
}

// words is the length of a set of instructions.
func (p *program) words() int { return (len(p.insts) + 63) / 64 }

// size is about how many bytes of memory the program holds.
func (p *program) size() int {
	n := int(unsafe.Sizeof(*p)) + len(p.insts)*int(unsafe.Sizeof(syntax.Inst{})) + len(p.readers)*8*(p.words()+4)
	for i := range p.insts {
		n += 4 * cap(p.insts[i].Rune)
	}
	return n
}
