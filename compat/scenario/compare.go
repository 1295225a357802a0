package scenario

import (
	"cmp"
	"fmt"
	"strings"
)

// Difference is a call that one transcript answers differently from another one,
// or a whole scenario, if one of them does not get as far.
type Difference struct {
	Scenario  string
	Want, Got string
}

// String says both.
func (d Difference) String() string {
	return fmt.Sprintf("%s:\nwant %s\ngot  %s", d.Scenario, d.Want, d.Got)
}

// Differences are what two transcripts of the same scenarios differ in.
func Differences(want, got string) []Difference {
	var differences []Difference
	wanted, had := sections(want), sections(got)
	for i := range max(len(wanted), len(had)) {
		var w, g section
		if i < len(wanted) {
			w = wanted[i]
		}
		if i < len(had) {
			g = had[i]
		}
		differences = append(differences, w.differences(g)...)
	}
	return differences
}

// section is a scenario in a transcript: its heading, and its calls with the lines
// that are indented below each.
type section struct {
	heading string
	calls   []string
}

func (s section) differences(other section) []Difference {
	if s.heading != other.heading || len(s.calls) != len(other.calls) {
		return []Difference{{
			Scenario: title(cmp.Or(s.heading, other.heading)), Want: strings.Join(s.calls, "\n"), Got: strings.Join(other.calls, "\n"),
		}}
	}
	var differences []Difference
	for i, call := range s.calls {
		if call != other.calls[i] {
			differences = append(differences, Difference{Scenario: title(s.heading), Want: call, Got: other.calls[i]})
		}
	}
	return differences
}

// title is the first line of a heading.
func title(heading string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(heading, "== "), "\n")
	return first
}

func sections(transcript string) []section {
	var all []section
	var at *string
	for line := range strings.Lines(transcript) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
		case strings.HasPrefix(line, "== "):
			all = append(all, section{heading: line})
			at = &all[len(all)-1].heading
		case strings.HasPrefix(line, " ") && at != nil:
			*at += "\n" + line
		case len(all) > 0:
			s := &all[len(all)-1]
			s.calls = append(s.calls, line)
			at = &s.calls[len(s.calls)-1]
		}
	}
	return all
}
