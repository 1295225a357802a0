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
func Differences(want, got string) (all []Difference) {
	wanted, had := strings.Split(want, "\n\n"), strings.Split(got, "\n\n")
	for i := range max(len(wanted), len(had)) {
		wantHeading, wantCalls := parse(wanted, i)
		gotHeading, gotCalls := parse(had, i)
		title, _, _ := strings.Cut(strings.TrimPrefix(cmp.Or(wantHeading, gotHeading), "== "), "\n")
		if wantHeading != gotHeading || len(wantCalls) != len(gotCalls) {
			all = append(all, Difference{Scenario: title, Want: strings.Join(wantCalls, "\n"), Got: strings.Join(gotCalls, "\n")})
			continue
		}
		for i, call := range wantCalls {
			if call != gotCalls[i] {
				all = append(all, Difference{Scenario: title, Want: call, Got: gotCalls[i]})
			}
		}
	}
	return all
}

// parse returns the heading of the i-th scenario, if there is one, and its calls, each
// with the lines that are indented below.
func parse(scenarios []string, i int) (heading string, calls []string) {
	if i >= len(scenarios) {
		return "", nil
	}
	var parts []string
	for line := range strings.SplitSeq(strings.TrimSpace(scenarios[i]), "\n") {
		if strings.HasPrefix(line, " ") {
			parts[len(parts)-1] += "\n" + line
		} else {
			parts = append(parts, line)
		}
	}
	return parts[0], parts[1:]
}
