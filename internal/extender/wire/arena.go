package wire

import "strings"

// arena collects strings in one piece of memory instead of one each.
type arena struct {
	text strings.Builder
	ends []uint32
}

func (a *arena) add(s []byte) {
	a.text.Write(s)
	a.ends = append(a.ends, uint32(a.text.Len()))
}

func (a *arena) strings() []string {
	text, start := a.text.String(), uint32(0)
	all := make([]string, len(a.ends))
	for i, end := range a.ends {
		all[i], start = text[start:end], end
	}
	return all
}
