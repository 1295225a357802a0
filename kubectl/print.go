package kubectl

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// print writes a value as JSON or YAML, whichever --output says.
func (o *options) print(value any) error {
	if o.output == "yaml" {
		text, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = o.Out.Write(text)
		return err
	}
	return printJSON(o.Out, value)
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "    ")
	encoder.SetEscapeHTML(false) // patterns are to be read
	return encoder.Encode(value)
}

// count is a number and what it counts.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// shown is a pattern as it was typed, unless that would break a line or drive a
// terminal.
func shown(pattern string) string {
	if strings.ContainsRune(pattern, '\t') || !strconv.CanBackquote(strings.ReplaceAll(pattern, "`", "")) {
		return strconv.Quote(pattern)
	}
	return pattern
}
