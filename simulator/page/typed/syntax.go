package typed

import (
	"regexp"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// maxSearched is how many lines a text may have to be searched for the bad one.
const maxSearched = 500

// parserLine is how the YAML parser says where. It often names the line on which the
// block around the mistake begins.
var parserLine = regexp.MustCompile(`line \d+: `)

// syntax is what keeps a text from being YAML. The bad line is the one behind the last
// up to which it is.
func syntax(text string) []Problem {
	parse := func(text string) error {
		_, err := yamlcheck.Documents([]byte(text))
		return err
	}
	err, lines := parse(text), strings.SplitAfter(text, "\n")
	switch bad := len(lines); {
	case err == nil:
		return nil
	case bad > maxSearched:
		return []Problem{{Line: 1, Message: err.Error() + mend(err, text)}}
	default:
		for ; bad > 1 && parse(strings.Join(lines[:bad-1], "")) != nil; bad-- {
		}
		return []Problem{{Line: bad, Message: parserLine.ReplaceAllString(err.Error(), "") + mend(err, lines[bad-1])}}
	}
}

// mends says what to do about the parser's complaints.
var mends = []struct{ complaint, mend string }{
	{"mapping values are not allowed", `is the line indented like its neighbours? A value with ": " in it must stand in quotes`},
	{"cannot start any token", "a value that begins with this character must stand in quotes"},
	{"unknown escape character", "between double quotes a backslash means something else: use single quotes"},
	{"alphabetic or numeric character", "a value that begins with * or & must stand in quotes"},
	{"unknown anchor", "a value that begins with * must stand in quotes"},
	{"did not find expected key", "is the line indented like its neighbours? A value that begins with [, { or a quote and does not end there must stand in single quotes"},
	{"did not find expected '-'", "is the line indented like its neighbours?"},
	{"did not find expected ','", "a [ or { is not closed"},
	{"could not find expected ':'", `there is no ": " after the name of the field`},
	{"unexpected end of stream", "a quote is not closed"},
}

func mend(err error, line string) string {
	if strings.Contains(line, "\t") {
		return ": indent with spaces, there is a tab"
	}
	for _, m := range mends {
		if strings.Contains(err.Error(), m.complaint) {
			return ": " + m.mend
		}
	}
	return ""
}
