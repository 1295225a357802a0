package edited

import (
	"regexp"
	"strconv"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// parserLine is the position in an error of the YAML parser, which has no field for it.
var parserLine = regexp.MustCompile(`line (\d+): `)

// syntax is the syntax error of a text that is not YAML.
func syntax(text string) []Problem {
	_, err := yamlcheck.Documents([]byte(text))
	if err == nil {
		return nil
	}
	line := 1
	at := parserLine.FindStringSubmatch(err.Error())
	if at != nil {
		line, _ = strconv.Atoi(at[1])
	}
	return []Problem{{Line: line, Message: parserLine.ReplaceAllString(err.Error(), "")}}
}
