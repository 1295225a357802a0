package dfa

import (
	"math/bits"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// The bounds of an automaton. RATIONALE.md has the measurements behind them.
const (
	maxStates  = 1 << 12
	maxEntries = 1 << 17 // of the table: a number is half a place in it
	// maxWork bounds the visits of instructions, and what else takes as long.
	maxWork = 300_000
)

// builders are used again: a guest's memory would grow and grow if it dropped a
// megabyte with each pattern.
var builders = sync.Pool{New: func() any { return &builder{} }}

// Compile makes the automaton of a program, which it changes. It returns nil if
// that would exceed the bounds.
func Compile(program *syntax.Prog) *Automaton {
	b := builders.Get().(*builder)
	defer builders.Put(b)
	return b.compile(program)
}

// builder makes the states. A state is a list of instructions at which the program may
// be. Since a match may begin at any character, each state has the instructions to which
// the beginning of the program leads: the base. A state is stored as the instructions
// that it has in addition to the base.
type builder struct {
	insts []syntax.Inst
	begin uint32
	asks  syntax.EmptyOp // the assertions that there are
	work  int
	full  bool // there are too many states

	classes
	chains

	base    list
	states  []state // those that are the base alone come first, one for each context
	bases   int
	members []uint16 // of states, one after another
	index   []uint16 // finds a state by its members: open addressing, 0 is free
	table   []uint16 // as an Automaton's; but the states are counted in it

	to, through list
	todo        []uint32
	alike       []alike
}

// state is a state without the base.
type state struct {
	from, to int // its members
	context  context
	hash     uint64
}

func (b *builder) compile(program *syntax.Prog) *Automaton {
	b.insts, b.begin, b.asks, b.work, b.full = program.Inst, uint32(program.Start), 0, 0, false
	defer func() { b.insts = nil }()
	for _, l := range []*list{&b.base, &b.to, &b.through} {
		l.make(len(b.insts))
	}
	b.shorten()
	if !b.classify() {
		return nil
	}
	b.relate()
	start := b.build()
	if b.full || b.work > maxWork {
		return nil
	}
	width := uint16(b.rowLength() / 2)
	for i := range b.table {
		b.table[i] *= width
	}
	a := &Automaton{table: slices.Clone(b.table), start: start * width, width: width, end: uint8(b.end())}
	for char := range a.column {
		a.column[char] = a.end + 1 // foreign
	}
	for i, first := range b.first {
		for char := first; first < utf8.RuneSelf && char < b.first[i+1]; char++ {
			a.column[char] = b.column[i]
		}
		if n := len(a.beyond); first >= utf8.RuneSelf && (n == 0 || a.beyond[n-1].column != b.column[i]) {
			a.beyond = append(a.beyond, interval{first, b.column[i]})
		}
	}
	return a
}

// zeroed returns a slice of zeros. It uses the memory of s if that is large enough.
func zeroed[T any](s []T, size int) []T {
	s = slices.Grow(s[:0], size)[:size]
	clear(s)
	return s
}

// shorten leads the instructions past those that do nothing.
func (b *builder) shorten() {
	skip := func(pc uint32) uint32 {
		for b.insts[pc].Op == syntax.InstNop || b.insts[pc].Op == syntax.InstCapture {
			pc = b.insts[pc].Out
		}
		return pc
	}
	b.begin = skip(b.begin)
	for pc := range b.insts {
		inst := &b.insts[pc]
		inst.Out = skip(inst.Out)
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			inst.Arg = skip(inst.Arg)
		case syntax.InstEmptyWidth:
			b.asks |= syntax.EmptyOp(inst.Arg)
		}
	}
}

// build makes all states, and returns the number of the first.
func (b *builder) build() uint16 {
	b.index = zeroed(b.index, 2*maxStates)
	b.states, b.members = zeroed(b.states, firstState), b.members[:0]
	b.table = zeroed(b.table, firstState*b.rowLength())
	for i := range b.table {
		b.table[i] = uint16(i / b.rowLength())
	}
	b.to.empty()
	if b.follow(&b.base, b.begin, 0, onNext) || b.follow(&b.to, b.begin, beginning.begins(), onNext) {
		return matched
	}
	first := slices.Clone(b.to.pcs)
	b.to.empty()
	for context := nothing; context == nothing || b.base.open && context <= beginning; context++ {
		b.number(context)
	}
	b.bases = len(b.states)
	for _, pc := range first {
		b.add(&b.to, pc)
	}
	start := b.settle(beginning)
	for i := firstState; i < len(b.states) && !b.full && b.work <= maxWork; i++ {
		b.row(b.states[i], i < b.bases)
	}
	return start
}

// row makes the row of a state: that of the base, but for what the state's own
// members read.
func (b *builder) row(s state, isBase bool) {
	members, row, base := b.members[s.from:s.to], len(b.table), firstState*b.rowLength()
	if isBase {
		members, base = b.base.pcs, dead
	} else if b.base.open {
		base += int(s.context) * b.rowLength()
	}
	b.table = append(b.table, b.table[base:base+b.rowLength()]...)
	reads := columnSet{}
	if isBase { // but for columns that nothing reads
		reads = all
		b.table[row+b.end()+1] = foreign
	}
	for _, pc := range members {
		for i, word := range b.readBy(pc) {
			reads[i] |= word
		}
	}
	b.alike = b.alike[:0]
	for i, word := range reads {
		for ; word != 0; word &= word - 1 {
			column := i<<6 + bits.TrailingZeros64(word)
			if column > b.end() {
				break
			}
			if number := &b.table[row+column]; *number != matched {
				*number = b.leadsAlike(s.context, members, column, *number)
			}
		}
	}
	b.work += len(members) + b.end()/16
}

// end is the column of the end of a text. The next one is that of bytes beyond
// ASCII.
func (b *builder) end() int { return len(b.sample) }

func (b *builder) rowLength() int { return (b.end() + 3) / 2 * 2 }
