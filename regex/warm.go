package regex

// leaps remember where eight characters led to, so that a name that was seen
// before costs a look-up for eight of them, and one for the rest. Names that
// resemble it share what they have in common.
type leaps struct {
	epoch uint64 // states are of an epoch, and so are the leaps between them
	leap  [maxLeaps]leap
}

// leap is from one state to another. A new one takes the place of an old one.
type leap struct {
	chars uint64 // as load and rest return them
	way   uint64 // epoch, row, and in the lowest 16 bits the row that it leads to
}

// maxLeaps is enough for some thousand nodes. They take 128 KiB.
const (
	leapBits = 13
	maxLeaps = 1 << leapBits
)

// forget makes all leaps those of an earlier epoch. None is of the epoch 0.
func (l *leaps) forget() { l.epoch++ }

// over returns where the leap over some characters stands, if it is known. The
// multiplier is 2⁶⁴ over the golden ratio.
func (l *leaps) over(chars uint64, at row) *leap {
	return &l.leap[(chars*0x9e3779b97f4a7c15>>(64-leapBits)^uint64(at))%maxLeaps]
}

// lead returns what some characters at a state lead to, or unknown.
func (l *leaps) lead(chars uint64, at row) row {
	known := l.over(chars, at)
	if known.chars == chars && known.way>>16 == l.epoch<<16|uint64(at) {
		return row(known.way)
	}
	return unknown
}

// keep remembers what some characters at a state lead to.
func (l *leaps) keep(chars uint64, at, to row) row {
	if to != unknown {
		*l.over(chars, at) = leap{chars, l.epoch<<32 | uint64(at)<<16 | uint64(to)}
	}
	return to
}

// warm reports, as matched or dead, whether the program of a ticket matches a
// name, if no state is missing on its way. Otherwise it returns unknown.
//
// This is the hot path: some instructions for eight characters. In a guest it
// must do nothing that might allocate, or else TinyGo keeps all pointers in
// memory, where its collector finds them.
func (d *dfa) warm(ticket Ticket, name string) row {
	if d.ticket != ticket {
		return unknown
	}
	at := d.initial
	i := 0
	for ; i+8 <= len(name) && at > matched; i += 8 {
		chars := load(name, i)
		to := d.leaps.lead(chars, at)
		if to == unknown {
			to = d.leaps.keep(chars, at, d.eight(at, chars))
		}
		at = to
	}
	if at <= matched {
		return at
	}
	chars := rest(name, i)
	to := d.leaps.lead(chars, at)
	if to == unknown {
		to = d.leaps.keep(chars, at, d.last(at, name[i:]))
	}
	return to
}

// eight reads eight characters. Most states lead back to themselves for most of
// a name, and then the processor need not wait for one look-up to begin the next.
func (d *dfa) eight(at row, chars uint64) row {
	if chars&foreign8 != native8 {
		return unknown
	}
	codes := chars&low8 | chars>>1&high8
	for range 8 {
		if to := d.table[at|row(codes&(rowLength-1))]; to != at {
			if at = to; at <= matched {
				return at
			}
		}
		codes >>= 8
	}
	return at
}

// last reads the last characters, fewer than eight, and the end of a name.
func (d *dfa) last(at row, chars string) row {
	for i := range len(chars) {
		code, ok := encode(rune(chars[i]))
		if !ok {
			return unknown
		}
		if at = d.table[at|code]; at <= matched {
			return at
		}
	}
	return d.ends[at/rowLength]
}

// rest returns the characters of a name from i on, fewer than eight, the first
// in the lowest byte, and behind them a byte that no character has.
func rest(name string, i int) uint64 {
	n := 8 * (len(name) - i) // bits
	if len(name) >= 8 {
		return load(name, len(name)-8)>>(64-n) | 0x80<<n
	}
	chars := uint64(0x80)
	for j := len(name) - 1; j >= 0; j-- {
		chars = chars<<8 | uint64(name[j])
	}
	return chars
}
