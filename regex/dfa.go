package regex

import (
	"regexp/syntax"
	"unicode/utf8"
)

// dfa matches names, one at a time, against one program at a time.
//
// A state is a set of instructions at which the program may be. Each has a row
// in a table: an entry for every class of characters and one for the end of
// the name, filled when a name first asks for it. So only what the names of the
// cluster look like is ever built, and a name that resembles an earlier one
// costs a table look-up per character. When a bound is reached all states are
// dropped, and the name goes on from where it was.
//
// All memory is allocated once and serves every program in turn.
type dfa struct {
	program *program
	stride  int // length of a row
	words   int // length of a set
	initial row // the state before the first character, or unknown

	table    []row     // rows, one after another
	members  []uint64  // sets of instructions, one after another
	contexts []context // one for each state
	index    []row     // finds a state by its set: open addressing, 0 is free

	from, to, seen set // scratch of a step
	todo           []uint32
	undecided      bool // whether to holds an assertion about what comes next

	work int // instructions and words visited since match began
}

// row is where in the table the row of a state begins.
type row uint16

const (
	unknown  row = iota // no name asked yet
	dead                // whatever follows, the name does not match
	matched             // whatever follows, the name matches
	firstRow            // the first row that stands for a state
)

// The bounds of the states, about 120 KiB in all. maxTable is in entries and
// must fit a row; the index stays at most half full.
const (
	maxTable   = 16384
	maxMembers = 8192
	maxStates  = 4096
	indexSize  = 2 * maxStates
)

func newDFA() *dfa {
	return &dfa{
		table:    make([]row, maxTable),
		members:  make([]uint64, maxMembers),
		contexts: make([]context, 0, maxStates),
		index:    make([]row, indexSize),
	}
}

// use makes p the program to match against. What was built for another program
// is dropped.
func (d *dfa) use(p *program) {
	if d.program == p {
		return
	}
	d.drop()
	d.program = p
	d.stride = len(p.sample) + 1
	d.words = (len(p.insts) + 63) / 64
	if cap(d.from) < d.words {
		d.from, d.to, d.seen = make(set, d.words), make(set, d.words), make(set, d.words)
		d.todo = make([]uint32, 0, 2*64*d.words)
	}
	d.from, d.to, d.seen = d.from[:d.words], d.to[:d.words], d.seen[:d.words]
}

// drop forgets all states.
func (d *dfa) drop() {
	clear(d.table[:int(firstRow)+len(d.contexts)*d.stride])
	clear(d.index)
	d.contexts = d.contexts[:0]
	d.initial = unknown
}

// match reports whether the program matches name anywhere. It gives up, and
// reports false for ok, when that takes more than limit work.
func (d *dfa) match(name string, limit int) (matches, ok bool) {
	d.work = 0
	at := d.start()
	for i := 0; i < len(name) && at > matched; {
		c, size := name[i], 1
		if c < utf8.RuneSelf {
			class := d.program.class[c]
			to := d.table[int(at)+int(class)]
			if to == unknown {
				to = d.extend(at, int(class), d.program.sample[class])
			}
			at = to
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(name[i:])
			at = d.step(at, r)
		}
		if d.work > limit {
			return false, false
		}
		i += size
	}
	if at > matched {
		at = d.finish(at)
	}
	return at == matched, d.work <= limit
}

// finish is the verdict on a name that ends at a state: matched or dead.
func (d *dfa) finish(at row) row {
	end := d.stride - 1
	if to := d.table[int(at)+end]; to != unknown {
		return to
	}
	return d.extend(at, end, endOfText)
}

// start returns the state before the first character.
func (d *dfa) start() row {
	if d.initial == unknown {
		before := atBeginText | atBeginLine
		d.begin()
		d.initial = matched
		if !d.follow(d.to, d.program.start, before.begins(), onNext) {
			d.initial = d.state(before)
		}
	}
	return d.initial
}

// extend computes the entry of a row and remembers it, unless that dropped the
// row.
func (d *dfa) extend(at row, class int, r rune) row {
	states := len(d.contexts)
	to := d.step(at, r)
	if len(d.contexts) >= states {
		d.table[int(at)+class] = to
	}
	return to
}

// step returns the state that reading r at a state leads to.
func (d *dfa) step(at row, r rune) row {
	if d.decide(at, r) {
		return matched
	}
	if r == endOfText {
		return dead
	}
	after := contextAfter(r)
	holds := after.begins()
	d.begin()
	for pc, ok := d.from.next(0); ok; pc, ok = d.from.next(pc + 1) {
		inst := &d.program.insts[pc]
		d.work++
		if inst.Op != syntax.InstEmptyWidth && inst.MatchRune(r) && d.follow(d.to, inst.Out, holds, onNext) {
			return matched
		}
	}
	// The match may begin at any character.
	if d.follow(d.to, d.program.start, holds, onNext) {
		return matched
	}
	return d.state(after)
}

// decide loads a state into from, following the assertions that hold now that
// the next character is known. It reports whether that matches.
func (d *dfa) decide(at row, r rune) bool {
	n := int(at-firstRow) / d.stride
	copy(d.from, d.members[n*d.words:])
	if d.contexts[n] == 0 {
		return false
	}
	holds := d.contexts[n].before(r)
	d.seen.clear()
	for pc, ok := d.from.next(0); ok; pc, ok = d.from.next(pc + 1) {
		inst := &d.program.insts[pc]
		if inst.Op == syntax.InstEmptyWidth && syntax.EmptyOp(inst.Arg)&^holds == 0 &&
			d.follow(d.from, inst.Out, holds, 0) {
			return true
		}
	}
	return false
}

// begin empties to, for follow to fill.
func (d *dfa) begin() {
	d.to.clear()
	d.seen.clear()
	d.undecided = false
	d.work += d.words
}

// follow adds to a set every instruction that pc leads to without reading a
// character, given the assertions that hold. Those in open cannot be decided
// yet: they become members. It reports whether pc leads to a match.
func (d *dfa) follow(into set, pc uint32, holds, open syntax.EmptyOp) bool {
	d.todo = append(d.todo[:0], pc)
	for len(d.todo) > 0 {
		pc := d.todo[len(d.todo)-1]
		d.todo = d.todo[:len(d.todo)-1]
		if d.seen.has(pc) {
			continue
		}
		d.seen.add(pc)
		d.work++
		inst := &d.program.insts[pc]
		switch inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			d.todo = append(d.todo, inst.Out, inst.Arg)
		case syntax.InstNop, syntax.InstCapture:
			d.todo = append(d.todo, inst.Out)
		case syntax.InstEmptyWidth:
			switch asks := syntax.EmptyOp(inst.Arg) &^ holds; {
			case asks == 0:
				d.todo = append(d.todo, inst.Out)
			case asks&^open == 0:
				into.add(pc)
				d.undecided = true
			}
		case syntax.InstFail:
		default:
			into.add(pc)
		}
	}
	return false
}

// state returns the row of the state whose instructions are in to, and makes
// one if there is none.
func (d *dfa) state(after context) row {
	if d.to.empty() && !d.program.afterLines {
		return dead
	}
	if !d.undecided {
		after = 0
	} else {
		after |= asserting
	}
	slot, found := d.find(after)
	if found {
		return d.index[slot]
	}
	n := len(d.contexts)
	if n == min(maxStates, (maxTable-int(firstRow))/d.stride, maxMembers/d.words) {
		d.drop()
		slot, _ = d.find(after)
		n = 0
	}
	d.contexts = append(d.contexts, after)
	copy(d.members[n*d.words:], d.to)
	d.index[slot] = firstRow + row(n*d.stride)
	return d.index[slot]
}

// find returns the slot of the index that the state in to has, or will have.
func (d *dfa) find(after context) (slot int, found bool) {
	d.work += d.words
	slot = int(d.to.hash(uint64(after)) % indexSize)
	for ; d.index[slot] != unknown; slot = (slot + 1) % indexSize {
		n := int(d.index[slot]-firstRow) / d.stride
		if d.contexts[n] == after && d.to.equal(d.members[n*d.words:]) {
			return slot, true
		}
	}
	return slot, false
}
