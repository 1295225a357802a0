package dfa

// Texts lists, in order, all texts of the characters of an alphabet in which
// there is a match, if it is proven that there are at most so many and that none
// is longer than so many bytes. The alphabet is of ASCII, in order.
func (a *Automaton) Texts(alphabet string, most, longest int) []string {
	l := lister{a, alphabet, most, longest, make([]int, len(a.table)/2/int(a.width))}
	if l.count(a.start, 0) > most {
		return nil
	}
	return l.list(a.start, nil, nil)
}

type lister struct {
	*Automaton
	alphabet      string
	most, longest int
	counts        []int // of texts, by state, and one more; or onTheWay
}

// onTheWay is the count of a state that is being counted.
const onTheWay = -1

// count counts the texts that lead from a state to a match. Where a state comes
// back on its own way, they are taken for too many.
func (l *lister) count(at uint16, length int) int {
	known := &l.counts[at/l.width]
	switch {
	case at == dead:
		return 0
	case at < firstState*l.width || length > l.longest || *known == onTheWay:
		return l.most + 1
	case *known > 0:
		return *known - 1
	}
	*known = onTheWay
	n := 0
	if l.next(at, l.end) == matched*l.width {
		n++
	}
	for i := range len(l.alphabet) {
		if n += l.count(l.next(at, l.column[l.alphabet[i]]), length+1); n > l.most {
			break
		}
	}
	*known = n + 1
	return n
}

// list appends the texts that begin with a text and lead on from a state.
func (l *lister) list(at uint16, text []byte, texts []string) []string {
	if at == dead || l.counts[at/l.width] == 1 {
		return texts
	}
	if l.next(at, l.end) == matched*l.width {
		texts = append(texts, string(text))
	}
	for i := range len(l.alphabet) {
		texts = l.list(l.next(at, l.column[l.alphabet[i]]), append(text, l.alphabet[i]), texts)
	}
	return texts
}
