package abi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes one printable line of a text, for terminals, logs and events: lines
// are joined by "; ", what could steer a terminal is dropped, and what is beyond
// that many bytes is cut, with "…" in its place.
func Line(text string, most int) string {
	if len(text) <= most && clean(text) {
		return text
	}
	const ellipsis = "…"
	cut := len(text) > 4*most // however much of it is dropped
	text = text[:min(len(text), 4*most)]
	var parts []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.Map(printable, line)); line != "" {
			parts = append(parts, line)
		}
	}
	line := strings.Join(parts, "; ")
	if cut || len(line) > most {
		line = strings.ToValidUTF8(line[:min(len(line), most-len(ellipsis))], "") + ellipsis
	}
	return line
}

// clean is true of a text that is a line already.
func clean(text string) bool {
	for i, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return false
		}
	}
	return strings.TrimSpace(text) == text
}

// printable drops what could steer a terminal.
func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsPrint(r):
		return r
	}
	return -1
}
