package regex

import (
	"math/bits"
	"unicode/utf8"
)

// dfa matches names, one at a time, against one program at a time.
//
// A state is a set of instructions at which the program may be. Each has a row
// in a table, an entry for each character that a node's name may have, filled
// when a name first asks for it (step.go). So only what the names of the cluster
// look like is ever built, and a name that resembles an earlier one costs a
// look-up per character. When a bound is reached all states are dropped, and the
// name goes on from where it was.
//
// All memory is allocated once and serves every program in turn.
type dfa struct {
	program *program
	ticket  Ticket // of the program
	initial row    // the state before the first character, or unknown
	words   int    // length of a set

	table    [maxStates * rowLength]row
	ends     [maxStates]row // where the end of the name leads to from each row
	members  []uint64       // sets of instructions, one after another
	contexts []context      // one for each state
	index    []row          // finds a state by its set: open addressing, unknown is free

	leaps leaps
	scratch
}

// row is where in the table the row of a state begins.
type row uint16

const (
	unknown  row = iota * rowLength // no name asked yet
	dead                            // whatever follows, the name does not match
	matched                         // whatever follows, the name matches
	firstRow                        // the first row that stands for a state
)

// The bounds of the states, about 200 KiB in all. The table has an entry for
// every row and code, so that no look-up needs a check; the index stays at most
// half full.
const (
	maxStates  = (1 << 16) / rowLength // the three that are none among them
	maxMembers = 8192
	indexSize  = 2 * maxStates
)

func newDFA() *dfa {
	return &dfa{
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
	d.program, d.ticket = p, p.ticket
	d.words = p.words()
	d.scratch.fit(d.words)
}

// drop forgets all states.
func (d *dfa) drop() {
	clear(d.table[firstRow:][:len(d.contexts)*rowLength])
	clear(d.ends[:])
	clear(d.index)
	d.contexts = d.contexts[:0]
	d.initial = unknown
	d.leaps.forget()
}

// match reports whether the program matches name anywhere. It gives up, and
// reports false for ok, where a state is missing after more than limit work.
func (d *dfa) match(name string, limit int) (matches, ok bool) {
	d.work, d.limit = 0, limit
	at, i := d.start(), 0
	for at > matched {
		if at, i = d.walk(at, name, i); i == len(name) {
			at = d.end(at)
			break
		}
		r, size := rune(name[i]), 1
		if r >= utf8.RuneSelf { // as no node's name has
			r, size = utf8.DecodeRuneInString(name[i:])
		}
		at = d.read(at, r)
		i += size
	}
	return at == matched, at != unknown
}

// walk goes on from a state at a character, and returns the state and the
// character that are not in the table together, or the end of the name.
func (d *dfa) walk(at row, name string, i int) (row, int) {
	for ; i < len(name); i++ {
		code, ok := encode(rune(name[i]))
		if !ok {
			break
		}
		to := d.table[at|code]
		if to <= matched {
			break
		}
		at = to
	}
	return at, i
}

// start returns the state before the first character.
func (d *dfa) start() row {
	if d.initial == unknown {
		d.initial = d.first()
	}
	return d.initial
}

// read returns the state that reading a character at a state leads to.
func (d *dfa) read(at row, r rune) row {
	code, ok := encode(r)
	if !ok {
		return d.step(at, r)
	}
	if to := d.table[at|code]; to != unknown {
		return to
	}
	states := len(d.contexts)
	to := d.step(at, r)
	if len(d.contexts) >= states { // or the row is gone
		for codes := d.program.codes[d.program.class[r]]; codes != 0; codes &= codes - 1 {
			d.table[at|row(bits.TrailingZeros64(codes))] = to
		}
	}
	return to
}

// end returns what the end of the name at a state leads to: matched or dead.
func (d *dfa) end(at row) row {
	to := &d.ends[at/rowLength]
	if *to == unknown {
		*to = d.step(at, endOfText)
	}
	return *to
}

// state returns the row of the state that to holds, and makes one if there is
// none.
func (d *dfa) state(ctx context) row {
	slot, found := d.find(ctx)
	if found {
		return d.index[slot]
	}
	n := len(d.contexts)
	if n == min(maxStates-int(firstRow/rowLength), maxMembers/d.words) {
		d.drop()
		slot, _ = d.find(ctx)
		n = 0
	}
	d.contexts = append(d.contexts, ctx)
	copy(d.members[n*d.words:], d.to)
	d.index[slot] = firstRow + row(n*rowLength)
	return d.index[slot]
}

// find returns the slot of the index that the state in to has, or would have.
func (d *dfa) find(ctx context) (slot int, found bool) {
	slot = int(d.to.hash(uint64(ctx)) % indexSize)
	for ; d.index[slot] != unknown; slot = (slot + 1) % indexSize {
		n := d.number(d.index[slot])
		if d.contexts[n] == ctx && d.to.equal(d.members[n*d.words:]) {
			return slot, true
		}
	}
	return slot, false
}

// number counts the states before the one at a row.
func (d *dfa) number(at row) int { return int(at-firstRow) / rowLength }
