package wire

// arena collects strings in one piece of memory instead of one each.
type arena struct {
	text []byte
	ends []uint32
}

func (a *arena) reset() { a.text, a.ends = a.text[:0], a.ends[:0] }

func (a *arena) add(s []byte) {
	a.text = append(a.text, s...)
	a.ends = append(a.ends, uint32(len(a.text)))
}

// appendTo appends the strings to all.
func (a *arena) appendTo(all []string) []string {
	text, start := string(a.text), uint32(0)
	for _, end := range a.ends {
		all, start = append(all, text[start:end]), end
	}
	return all
}
