package dfa

// A chain is instructions one of which leads to the next, and that read the same
// characters. Of two in a chain, the one of the higher rank covers the other one: it leads to
// a match with whatever the other one does. So a state does without the other one.
//
// The copies of a counted repeat are a chain. Without it `-.{1,20}x` has a state for
// each set of places where a dash may have been, where only the last one counts.

// findChains looks at each instruction that reads a character, and at one that follows
// it and reads the same. An instruction stands before the ones that it leads to, but for
// loops, so it begins with the last. It ends early where that is too much.
func (b *builder) findChains() {
	here, there := &b.to, &b.from
	most := b.work + 16*len(b.insts)
	for pc := uint16(len(b.insts)) - 1; pc > 0 && b.work < most; pc-- {
		if !isReader(&b.insts[pc]) || b.reach(here, pc) {
			continue
		}
		for _, next := range here.members {
			if next == pc || b.isAssertion(next) || b.set[next] != b.set[pc] {
				continue
			}
			matches := b.reach(there, next)
			if matches || b.coversAll(there, here) {
				b.link(pc, next, -1)
			} else if b.coversAll(here, there) {
				b.link(pc, next, +1)
			}
			break
		}
	}
}

// reach makes a set of what comes after an instruction, whatever is asserted. It reports
// whether that is a match.
func (b *builder) reach(s *set, pc uint16) (matches bool) {
	s.clear()
	return b.follow(s, b.insts[pc].Out, 0, onNext|onLast)
}

// coversAll reports whether one set has or covers all members of another one.
func (b *builder) coversAll(by, s *set) bool {
	b.work += len(s.members)
	for _, pc := range s.members {
		if !by.has[pc] && !b.covered(by.members, pc) {
			return false
		}
	}
	return true
}

// covered reports whether one of some instructions covers another one.
func (b *builder) covered(by []uint16, pc uint16) bool {
	if b.chain[pc] == 0 {
		return false
	}
	b.work += len(by) / 8
	for _, better := range by {
		if b.chain[better] == b.chain[pc] && b.rank[better] > b.rank[pc] {
			return true
		}
	}
	return false
}

// link puts an instruction into the chain of the next one, above or below it. A chain
// grows at one end, up or down.
func (b *builder) link(pc, next uint16, above int16) {
	if b.chain[next] == 0 {
		b.chain[next] = uint16(len(b.ends))
		b.ends = append(b.ends, next)
	}
	chain, rank := b.chain[next], b.rank[next]
	if b.chain[pc] == 0 && b.ends[chain] == next && rank*above >= 0 {
		b.chain[pc], b.ends[chain], b.rank[pc] = chain, pc, rank+above
	}
}
