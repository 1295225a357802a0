package regex

import "unicode/utf8"

// dfa matches names, one at a time, against one program at a time.
//
// A state is a set of instructions at which the program may be. Each has a row
// in a table: an entry for every class of characters and one for the end of
// the name, filled when a name first asks for it (step.go). So only what the
// names of the cluster look like is ever built, and a name that resembles an
// earlier one costs a look-up per character. When a bound is reached all states
// are dropped, and the name goes on from where it was.
//
// All memory is allocated once and serves every program in turn.
type dfa struct {
	program *program
	stride  int // length of a row
	words   int // length of a set
	initial row // the state before the first character, or unknown

	table    *[maxTable]row // rows, one after another
	members  []uint64       // sets of instructions, one after another
	contexts []context      // one for each state
	index    []row          // finds a state by its set: open addressing, unknown is free

	scratch
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
// must fit a row, and is a power of two so that a mask spares a check; the index
// stays at most half full.
const (
	maxTable   = 16384
	maxMembers = 8192
	maxStates  = 4096
	indexSize  = 2 * maxStates
)

func newDFA() *dfa {
	return &dfa{
		table:    new([maxTable]row),
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
	d.stride = p.end() + 1
	d.words = p.words()
	d.scratch.fit(d.words)
}

// drop forgets all states.
func (d *dfa) drop() {
	clear(d.table[:int(firstRow)+len(d.contexts)*d.stride])
	clear(d.index)
	d.contexts = d.contexts[:0]
	d.initial = unknown
}

// match reports whether the program matches name anywhere. It gives up, and
// reports false for ok, where a state is missing after more than limit work.
//
// This is the hot path. What is warm takes a few instructions a character.
func (d *dfa) match(name string, limit int) (matches, ok bool) {
	d.work, d.limit = 0, limit
	at := d.start()
	table, class := d.table, &d.program.class
	for i := 0; i < len(name) && at > matched; i++ {
		to := table[(int(at)+int(class[name[i]]))&(maxTable-1)]
		if to == unknown {
			if name[i] >= utf8.RuneSelf {
				at = d.runes(at, name[i:])
				break
			}
			to = d.read(at, int(class[name[i]]), rune(name[i]))
		}
		at = to
	}
	if at > matched {
		at = d.read(at, d.program.end(), endOfText)
	}
	return at == matched, at != unknown
}

// runes goes on where a name leaves ASCII, as no node's name does.
func (d *dfa) runes(at row, name string) row {
	for _, r := range name {
		switch {
		case at <= matched:
			return at
		case r < utf8.RuneSelf:
			at = d.read(at, int(d.program.class[r]), r)
		default:
			at = d.step(at, noClass, r)
		}
	}
	return at
}

// start returns the state before the first character.
func (d *dfa) start() row {
	if d.initial == unknown {
		d.initial = d.first()
	}
	return d.initial
}

// read returns the state that reading a class, which r is of, at a state leads
// to.
func (d *dfa) read(at row, class int, r rune) row {
	if to := d.table[int(at)+class]; to != unknown {
		return to
	}
	states := len(d.contexts)
	to := d.step(at, class, r)
	if len(d.contexts) >= states { // or the row is gone
		d.table[int(at)+class] = to
	}
	return to
}

// state returns the row of the state that to holds, and makes one if there is
// none.
func (d *dfa) state(ctx context) row {
	slot, found := d.find(ctx)
	if found {
		return d.index[slot]
	}
	n := len(d.contexts)
	if n == min(maxStates, (maxTable-int(firstRow))/d.stride, maxMembers/d.words) {
		d.drop()
		slot, _ = d.find(ctx)
		n = 0
	}
	d.contexts = append(d.contexts, ctx)
	copy(d.members[n*d.words:], d.to)
	d.index[slot] = firstRow + row(n*d.stride)
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
func (d *dfa) number(at row) int { return int(at-firstRow) / d.stride }
