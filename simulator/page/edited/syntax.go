package edited

import (
	"regexp"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// maxSearched is how many lines a text may have for a search of the invalid one.
const maxSearched = 500

// parserLine is the position in an error of the YAML parser. It is often that of the block
// around the mistake.
var parserLine = regexp.MustCompile(`line \d+: `)

// syntax is the syntax error of a text that is not YAML. The invalid line follows the longest
// part that is YAML.
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
		return []Problem{{Line: 1, Message: err.Error() + fix(err, text)}}
	default:
		for ; bad > 1 && parse(strings.Join(lines[:bad-1], "")) != nil; bad-- {
		}
		return []Problem{{Line: bad, Message: parserLine.ReplaceAllString(err.Error(), "") + fix(err, lines[bad-1])}}
	}
}

// fixes are advice on the errors of the parser.
var fixes = []struct{ message, fix string }{
	{"mapping values are not allowed", `does the line have the indentation of its neighbours? A value with ": " in it needs quotes`},
	{"cannot start any token", "a value that begins with this character needs quotes"},
	{"unknown escape character", "a backslash is an escape character in double quotes: use single quotes"},
	{"alphabetic or numeric character", "a value that begins with * or & needs quotes"},
	{"unknown anchor", "a value that begins with * needs quotes"},
	{"did not find expected key", "does the line have the indentation of its neighbours? A value that begins with [, { or a quote and does not end there needs single quotes"},
	{"did not find expected '-'", "does the line have the indentation of its neighbours?"},
	{"did not find expected ','", "a [ or { is not closed"},
	{"could not find expected ':'", `the name of a field needs ": " after it`},
	{"unexpected end of stream", "a quote is not closed"},
}

func fix(err error, line string) string {
	if strings.Contains(line, "\t") {
		return ": use spaces to indent, not tabs"
	}
	for _, m := range fixes {
		if strings.Contains(err.Error(), m.message) {
			return ": " + m.fix
		}
	}
	return ""
}
