package cli

import (
	"regexp"
	"slices"
	"strings"
)

// plain are words that every shell of Unix takes as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@:,./+-][A-Za-z0-9_@:,./+=-]*$`)

// Shell is a command to copy into a shell, which reads these words and names, whatever characters they have. Names from
// a file or a cluster are no flags.
func Shell(words []string, names ...string) string {
	line := slices.Clone(words)
	if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "-") }) {
		line = append(line, "--")
	}
	line = append(line, names...)
	for i, word := range line {
		if !plain.MatchString(word) {
			line[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(line, " ")
}
