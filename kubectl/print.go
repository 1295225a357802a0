package kubectl

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// print writes a value as --output says, in JSON or YAML.
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
	encoder.SetEscapeHTML(false) // keeps patterns readable
	return encoder.Encode(value)
}

// count returns a number and its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// shown returns a pattern as it is. It quotes one that would break a line or control a
// terminal.
func shown(pattern string) string {
	if strings.ContainsRune(pattern, '\t') || !strconv.CanBackquote(strings.ReplaceAll(pattern, "`", "")) {
		return strconv.Quote(pattern)
	}
	return pattern
}
