package scenario

import (
	"fmt"
	"strings"
)

// Difference is a line of one transcript that another one has differently.
type Difference struct {
	// Scenario is the heading that the line stands under.
	Scenario  string
	Want, Got string
}

// String says both.
func (d Difference) String() string {
	return fmt.Sprintf("%s:\n  want %s\n  got  %s", d.Scenario, d.Want, d.Got)
}

// Differences are what two transcripts of the same scenarios differ in. Each call
// is held against the same call, with the lines that are indented below it.
func Differences(want, got string) []Difference {
	var differences []Difference
	wanted, had := calls(want), calls(got)
	heading := ""
	for i := range max(len(wanted), len(had)) {
		var w, g string
		if i < len(wanted) {
			w = wanted[i]
		}
		if i < len(had) {
			g = had[i]
		}
		if strings.HasPrefix(w, "== ") {
			heading, _, _ = strings.Cut(strings.TrimPrefix(w, "== "), "\n")
		}
		if w != g {
			differences = append(differences, Difference{Scenario: heading, Want: w, Got: g})
		}
	}
	return differences
}

// calls splits a transcript before each line that is not indented.
func calls(transcript string) []string {
	var calls []string
	for line := range strings.Lines(transcript) {
		line = strings.TrimSuffix(line, "\n")
		if len(calls) > 0 && strings.HasPrefix(line, " ") {
			calls[len(calls)-1] += "\n" + line
		} else if line != "" {
			calls = append(calls, line)
		}
	}
	return calls
}
