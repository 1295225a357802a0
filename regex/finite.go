package regex

import (
	"math/bits"
	"slices"
)

// nodeChars are the characters of a node's name, which is a DNS subdomain, as
// bits: those below 64, and those from 64 on.
const (
	nodeCharsLow  = 0x3ff<<'0' | 1<<'-' | 1<<'.'
	nodeCharsHigh = 0x3ffffff << ('a' - 64)
)

// The bounds within which a pattern is proven to match finitely many names.
const (
	maxNames      = 256
	maxNameLength = 253    // of a DNS subdomain
	maxFiniteWork = 50_000 // in the unit of Cycle
)

// finite lists the names of nodes that a program matches, in order, if those
// can be proven to be at most maxNames, and reports whether they can. It
// follows every way that names can take through the states; a state that comes
// back on its own way, or a bound, ends the proof.
func (p *program) finite(d *dfa) (names []string, ok bool) {
	d.use(p)
	d.work, d.limit = 0, maxFiniteWork
	if !d.anchored() {
		return nil, false
	}
	w := walk{dfa: d, name: make([]byte, 0, maxNameLength)}
	if !w.from(d.start()) {
		return nil, false
	}
	return w.names, true
}

// anchored reports whether a match can begin at the beginning of a name only.
func (d *dfa) anchored() bool {
	d.empty()
	return !d.follow(d.to, d.program.start, 0, onNext) && d.to.empty() && !d.program.afterLines
}

// walk collects the names that lead to a match.
type walk struct {
	*dfa
	names []string
	name  []byte // so far
	way   []row  // the states that it leads through
}

// from follows all ways from a state, and reports whether they all could be
// followed to their ends.
func (w *walk) from(at row) bool {
	w.work += 2 + len(w.way)/16 // the search of the way
	switch {
	case at == dead || len(w.name) == maxNameLength:
		return true
	case at == unknown || at == matched || w.work > w.limit || slices.Contains(w.way, at):
		return false
	}
	if w.end(at) == matched {
		w.names = append(w.names, string(w.name))
	}
	w.way = append(w.way, at)
	low, high := w.readable(at)
	ok := len(w.names) <= maxNames && w.each(at, low, 0) && w.each(at, high, 64)
	w.way = w.way[:len(w.way)-1]
	return ok
}

// each follows the ways that begin with a set of characters from a base.
func (w *walk) each(at row, chars uint64, base byte) bool {
	for ; chars != 0; chars &= chars - 1 {
		c := base + byte(bits.TrailingZeros64(chars))
		states := len(w.contexts)
		w.name = append(w.name, c)
		ok := w.from(w.read(at, rune(c)))
		w.name = w.name[:len(w.name)-1]
		if !ok || len(w.contexts) < states { // states were dropped, perhaps at
			return false
		}
	}
	return true
}

// readable is the set of a node's characters that a state may read. In an
// anchored program all others lead nowhere, and most do.
func (w *walk) readable(at row) (low, high uint64) {
	n := w.number(at)
	w.work += w.words
	if w.contexts[n] != 0 { // what an assertion hides may read anything
		return nodeCharsLow, nodeCharsHigh
	}
	add := func(from, to rune) {
		for r := from; r <= to; r++ {
			if r < 64 {
				low |= 1 << r
			} else {
				high |= 1 << (r - 64)
			}
		}
	}
	for i, word := range w.members[n*w.words : (n+1)*w.words] {
		for ; word != 0; word &= word - 1 {
			w.work++
			reads(&w.program.insts[i<<6+bits.TrailingZeros64(word)], add)
		}
	}
	return low & nodeCharsLow, high & nodeCharsHigh
}
