package dfa

import "regexp/syntax"

// list is a set of instructions that read characters, and of assertions that are
// not decided.
type list struct {
	pcs  []uint16
	at   []uint16 // where in pcs an instruction is, if it is there
	seen []uint32 // when an instruction was met last
	time uint32
	best []uint16 // which instruction of a chain is there, if any is
	hash uint64
	open bool // an assertion is there
}

func (l *list) make(size int) {
	l.at, l.seen, l.best, l.time = zeroed(l.at, size), zeroed(l.seen, size), zeroed(l.best, size), 0
	l.empty()
}

func (l *list) empty() {
	l.pcs, l.hash, l.open = l.pcs[:0], 0, false
	l.time++
}

func (l *list) has(pc uint16) bool { return int(l.at[pc]) < len(l.pcs) && l.pcs[l.at[pc]] == pc }

// add puts an instruction into a list, unless the base has it, or it is covered by
// another one of its chain, whose place it may take.
func (b *builder) add(l *list, pc uint16) {
	if b.base.has(pc) || b.covers(&b.base, pc) || b.covers(l, pc) {
		return
	}
	at := len(l.pcs)
	if chain := b.chain[pc]; chain != 0 {
		if worse := l.best[chain]; l.has(worse) {
			at = int(l.at[worse])
			l.hash -= mixed(worse)
		}
		l.best[chain] = pc
	}
	if at == len(l.pcs) {
		l.pcs = append(l.pcs, pc)
	}
	l.pcs[at], l.at[pc] = pc, uint16(at)
	l.hash += mixed(pc)
	l.open = l.open || b.insts[pc].Op == syntax.InstEmptyWidth
}

// mixed spreads the number of an instruction over 64 bits, such that sums of few
// differ.
func mixed(pc uint16) uint64 {
	h := (uint64(pc) + 1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return h ^ h>>32
}

// is reports whether b.to has exactly these members.
func (b *builder) is(members []uint16) bool {
	b.work += len(members)
	for _, pc := range members {
		if !b.to.has(pc) {
			return false
		}
	}
	return len(members) == len(b.to.pcs)
}

// chains are instructions one of which leads to the next, and that read the same
// characters. Of two of a chain, the one of the higher rank leads to a match
// with whatever the other one does, and so covers it. Counted repeats are made
// of such: without chains `-.{1,20}x` has a state for each set of places where a
// dash may have been, where only the last one counts.
type chains struct {
	chain []uint16 // of an instruction; 0 is none
	rank  []int16
	ends  [][2]uint16 // of a chain: the instructions of the lowest and the highest rank
}

// covers reports whether an instruction of a list covers another one.
func (b *builder) covers(l *list, pc uint16) bool {
	chain := b.chain[pc]
	return chain != 0 && l.has(l.best[chain]) && b.rank[l.best[chain]] >= b.rank[pc]
}

// relate finds the chains. Instructions stand before those that they lead to, but
// for loops, so it begins with the last. It ends early where that is too much.
func (b *builder) relate() {
	b.chain, b.rank, b.ends = zeroed(b.chain, len(b.insts)), zeroed(b.rank, len(b.insts)), zeroed(b.ends, 1)
	here, there, most := &b.to, &b.through, b.work+16*len(b.insts)
	for pc := uint16(len(b.insts)) - 1; pc > 0 && b.work < most; pc-- {
		if b.chain[pc] != 0 || !isReader(&b.insts[pc]) || b.behind(here, pc) {
			continue
		}
		for _, next := range here.pcs {
			if next == pc || *b.readBy(next) != *b.readBy(pc) {
				continue
			}
			switch matches := b.behind(there, next); {
			case matches || b.coversAll(there, here):
				b.link(pc, next, -1)
			case b.coversAll(here, there):
				b.link(pc, next, +1)
			}
			break
		}
	}
}

// behind makes a list of what comes behind an instruction, whatever is asserted,
// and reports whether that is a match.
func (b *builder) behind(l *list, pc uint16) bool {
	l.empty()
	return b.follow(l, b.insts[pc].Out, 0, onNext|onLast)
}

// coversAll reports whether all of a list is in another one, or covered there.
func (b *builder) coversAll(by, l *list) bool {
	b.work += len(l.pcs)
	for _, pc := range l.pcs {
		if !by.has(pc) && !b.covers(by, pc) {
			return false
		}
	}
	return true
}

// link puts an instruction into the chain of the next one, above or below it, if
// that is the end of its chain.
func (b *builder) link(pc, next uint16, above int16) {
	if b.chain[next] == 0 {
		b.chain[next] = uint16(len(b.ends))
		b.ends = append(b.ends, [2]uint16{next, next})
	}
	if end := &b.ends[b.chain[next]][(above+1)/2]; *end == next {
		*end = pc
		b.chain[pc], b.rank[pc] = b.chain[next], b.rank[next]+above
	}
}
