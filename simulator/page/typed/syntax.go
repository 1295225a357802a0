package typed

import (
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"
)

// yamlLine is how the YAML parser says where.
var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlProblem is for an error of the YAML parser on a document.
func yamlProblem(err error, d Document) Problem {
	message := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	message = strings.Replace(message, "yaml: unmarshal errors:\n  ", "yaml: ", 1)
	line := 1
	if at := yamlLine.FindStringSubmatchIndex(message); at != nil {
		line, _ = strconv.Atoi(message[at[2]:at[3]])
		message = message[:at[0]] + message[at[1]:]
	}
	lines := strings.SplitAfter(d.text, "\n")
	if bad := firstBad(lines); bad > 0 {
		line = bad
	}
	return Problem{Line: d.first + line - 1, Message: message + mend(message, lines[min(line, len(lines))-1])}
}

// maxSearched is how many lines a text may have to be searched for the bad one.
const maxSearched = 500

// firstBad is the line after the last one up to which a text is YAML, or 0. The
// parser itself often names the line on which the block around the mistake begins.
func firstBad(lines []string) int {
	good := 0
	if len(lines) > maxSearched {
		return 0
	}
	for n := range len(lines) + 1 {
		var node yaml.Node
		if yaml.Unmarshal([]byte(strings.Join(lines[:n], "")), &node) == nil {
			good = n
		}
	}
	if good >= len(lines) {
		return 0
	}
	return good + 1
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
