package typed

import (
	"regexp"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// maxSearched is how many lines a text may have to be searched for the bad one.
const maxSearched = 500

// parserLine is how the YAML parser says where. It often names the line on which the
// block around the mistake begins.
var parserLine = regexp.MustCompile(`line \d+: `)

// syntax is what keeps a text from being YAML. The bad line is the one behind the last
// up to which it is.
func syntax(part yamlcheck.Part) []Problem {
	err := parse(part.Text)
	if err == nil {
		return nil
	}
	lines, message := strings.SplitAfter(part.Text, "\n"), err.Error()
	if len(lines) > maxSearched {
		return []Problem{{Line: part.First, Message: message + mend(message, part.Text)}}
	}
	bad := len(lines)
	for ; bad > 1 && parse(strings.Join(lines[:bad-1], "")) != nil; bad-- {
	}
	message = parserLine.ReplaceAllString(message, "")
	return []Problem{{Line: part.First + bad - 1, Message: message + mend(message, lines[bad-1])}}
}

func parse(text string) error { return yaml.Unmarshal([]byte(text), new(yaml.Node)) }

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

func mend(message, line string) string {
	if strings.Contains(line, "\t") {
		return ": indent with spaces, there is a tab"
	}
	for _, m := range mends {
		if strings.Contains(message, m.complaint) {
			return ": " + m.mend
		}
	}
	return ""
}
