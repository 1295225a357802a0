package dfa

import (
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// The bounds of an automaton. RATIONALE.md has the measurements behind them.
const (
	maxStates  = 1 << 12
	maxEntries = 1 << 17 // of the table
	// maxWork bounds the visits of instructions, and what else takes as long.
	maxWork = 300_000
)

// builders are used again. A guest's memory never shrinks, and would grow by a megabyte
// with a costly pattern.
var builders = sync.Pool{New: func() any { return &builder{} }}

// Compile makes the automaton of a program. It returns nil if that would exceed the
// bounds.
func Compile(program *syntax.Prog) *Automaton {
	b := builders.Get().(*builder)
	defer builders.Put(b)
	return b.compile(program)
}

// builder makes the states by subset construction: a state is the instructions at which
// the program may be. A match may begin at any character, so every state has the
// instructions to which the beginning of the program leads: the base. A state lists
// only the others.
type builder struct {
	insts []syntax.Inst
	begin uint32
	asks  syntax.EmptyOp // the assertions that there are
	work  int            // so far

	classes   []class
	intervals []interval     // as the Automaton's
	sets      []*syntax.Inst // an instruction for each set of characters
	set       []uint16       // the set that each instruction reads

	chain []uint16 // of each instruction; 0 is none
	rank  []int16  // of each instruction in its chain
	ends  []uint16 // of each chain: the instruction that joined last

	base     set
	baseOpen bool             // the base has an assertion
	alone    [contexts]uint16 // the state that is the base alone, in each context
	states   []state
	members  []uint16 // of the states, one after another
	index    []uint16 // finds a state by its hash: open addressing, 0 is free
	table    []uint16 // as the Automaton's

	to, from set // scratch, as what follows
	todo     []uint32
	first    []rune
	in       []bool
}

// state is a state without the base.
type state struct {
	members []uint16
	context context
	open    bool // there is an assertion, here or in the base
}

func (b *builder) reset(program *syntax.Prog) {
	b.insts, b.begin, b.asks, b.work = program.Inst, uint32(program.Start), 0, 0
	for i := range b.insts {
		if b.insts[i].Op == syntax.InstEmptyWidth {
			b.asks |= syntax.EmptyOp(b.insts[i].Arg)
		}
	}
	for _, s := range []*set{&b.base, &b.to, &b.from} {
		s.has, s.members, s.visited = zeroed(s.has, len(b.insts)), s.members[:0], s.visited[:0]
	}
	b.classes, b.intervals, b.sets, b.first, b.in = b.classes[:0], b.intervals[:0], b.sets[:0], b.first[:0], b.in[:0]
	b.set, b.chain, b.rank = zeroed(b.set, len(b.insts)), zeroed(b.chain, len(b.insts)), zeroed(b.rank, len(b.insts))
	b.ends, b.states, b.index = zeroed(b.ends, 1), zeroed(b.states, firstState), zeroed(b.index, 2*maxStates)
	b.members, b.table = b.members[:0], b.table[:0]
}

// zeroed returns a slice of zeros. It uses the memory of s if that is large enough.
func zeroed[T any](s []T, size int) []T {
	s = slices.Grow(s[:0], size)[:size]
	clear(s)
	return s
}

func (b *builder) compile(program *syntax.Prog) *Automaton {
	b.reset(program)
	if !b.classify() {
		return nil
	}
	b.findChains()
	start := b.build()
	if b.work > maxWork {
		return nil
	}
	a := &Automaton{table: slices.Clone(b.table), width: len(b.classes), start: start, intervals: slices.Clone(b.intervals)}
	for _, in := range a.intervals {
		for char := in.first; char < utf8.RuneSelf; char++ {
			a.ascii[char] = in.column
		}
	}
	return a
}

// build makes all states, and returns the number of the first.
func (b *builder) build() (start uint16) {
	for n := range firstState {
		b.table = append(b.table, slices.Repeat([]uint16{uint16(n)}, len(b.classes))...)
	}
	if b.follow(&b.base, b.begin, 0, onNext) {
		return matched
	}
	b.baseOpen = slices.ContainsFunc(b.base.members, b.isAssertion)
	b.to.clear()
	for c := range b.alone {
		b.alone[c] = b.number(context(c))
	}
	if b.follow(&b.to, b.begin, beginning.begins(), onNext) {
		return matched
	}
	start = b.number(beginning)
	for n := firstState; n < len(b.states) && b.work <= maxWork; n++ {
		b.addRow(b.states[n])
	}
	return start
}

func (b *builder) addRow(s state) {
	for column := range b.classes {
		var next uint16
		switch {
		case b.work > maxWork: // the table is of no use
		case b.sameAsLast(s, column):
			next = b.table[len(b.table)-1]
		default:
			next = b.next(s, column)
		}
		b.table = append(b.table, next)
	}
}

// sameAsLast reports whether a state is sure to lead to the same state by a column as by
// the one before it. Where a repeat of a dot may be, most columns are so.
func (b *builder) sameAsLast(s state, column int) bool {
	if s.open || column == 0 || len(s.members) == 0 || b.ofBase(s, column-1) != b.ofBase(s, column) {
		return false
	}
	last, this := b.classes[column-1], b.classes[column]
	for _, pc := range s.members {
		if last.in[b.set[pc]] != this.in[b.set[pc]] {
			return false
		}
	}
	return last.behind == this.behind && this.sample != endOfText
}

// ofBase returns the state to which the base alone leads, where a state of its own
// members is.
func (b *builder) ofBase(s state, column int) uint16 {
	return b.table[int(b.alone[s.context])*len(b.classes)+column]
}

// number returns the number of the state that is b.to and the base, in a context. It
// makes the state if there is none.
func (b *builder) number(c context) uint16 {
	known := len(b.members)
	s := state{members: b.essential()}
	if len(s.members)+len(b.base.members) == 0 && b.asks&syntax.EmptyBeginLine == 0 {
		return dead
	}
	if b.baseOpen || b.asks != 0 && slices.ContainsFunc(s.members, b.isAssertion) {
		s.open, s.context = true, c
	}
	hash := uint32(s.context)
	for _, pc := range s.members {
		hash = (hash ^ uint32(pc)) * 0x9e3779b1 // Fibonacci hashing: the upper bits are spread
	}
	slot := int(hash>>16) % len(b.index)
	for ; b.index[slot] != 0; slot = (slot + 1) % len(b.index) {
		other := &b.states[b.index[slot]]
		b.work++
		if other.context == s.context && slices.Equal(other.members, s.members) {
			b.members = b.members[:known]
			return b.index[slot]
		}
	}
	n := len(b.states)
	if n == maxStates || (n+1)*len(b.classes) > maxEntries {
		b.work = maxWork + 1
		return dead
	}
	b.states = append(b.states, s)
	b.index[slot] = uint16(n)
	return uint16(n)
}

// essential adds to b.members the members of b.to, in order, without the ones that the
// base or another member makes superfluous. It returns what it has added.
func (b *builder) essential() []uint16 {
	known := len(b.members)
	for _, pc := range b.to.members {
		if !b.base.has[pc] && !b.covered(b.base.members, pc) && !b.covered(b.to.members, pc) {
			b.members = append(b.members, pc)
		}
	}
	b.work += len(b.to.members) / 2 // they are sorted
	slices.Sort(b.members[known:])
	return b.members[known:]
}
