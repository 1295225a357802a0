// Package printable makes lines for terminals, logs and events of what a guest or
// a server has written.
package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes one printable line of a text: it joins lines by "; ", drops what could
// control a terminal, and cuts what is beyond that many bytes, with "…" in its place.
func Line(text string, most int) string {
	if len(text) <= most && isLine(text) {
		return text
	}
	const ellipsis = "…"
	cut := len(text) > 4*most // however much of it is dropped
	text = text[:min(len(text), 4*most)]
	var parts []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.Map(printable, line))
		if line != "" {
			parts = append(parts, line)
		}
	}
	line := strings.Join(parts, "; ")
	if cut || len(line) > most {
		line = strings.ToValidUTF8(line[:min(len(line), most-len(ellipsis))], "") + ellipsis
	}
	return line
}

func isLine(text string) bool {
	for i, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return false
		}
	}
	return strings.TrimSpace(text) == text
}

func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsPrint(r):
		return r
	}
	return -1
}
