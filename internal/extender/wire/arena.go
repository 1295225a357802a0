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

// appendTo appends the strings to all.
func (a *arena) appendTo(all []string) []string {
	text, start := a.text.String(), uint32(0)
	for _, end := range a.ends {
		all, start = append(all, text[start:end]), end
	}
	return all
}
