package regex

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// PatternError says why a pattern is refused. It is addressed to the author
// of the annotation.
type PatternError struct {
	// Annotation is the key that carries the pattern.
	Annotation string
	// Pattern is the pattern, shortened in the middle past 128 characters.
	Pattern string
	// Problem is what is wrong with it.
	Problem string

	text string // the whole message, made once: v1 gives it for each node
}

func (e *PatternError) Error() string { return e.text }

// problem describes an error of syntax.Parse. It shows the fragment at fault, unless
// that is the whole pattern, which every PatternError shows.
func problem(pattern string, err error) string {
	at, ok := err.(*syntax.Error)
	if !ok {
		return err.Error()
	}
	if at.Expr == "" || at.Expr == pattern {
		return at.Code.String()
	}
	return at.Code.String() + " " + quote(shorten(at.Expr))
}

// maxShown is how many characters of a pattern a message shows.
const maxShown = 128

// shorten replaces the middle of a long text by an ellipsis, so that maxShown
// characters remain. The result is a copy: it outlives the memory of text.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxShown {
		return strings.Clone(text)
	}
	head, tail := 0, len(text)
	for range maxShown / 2 {
		_, size := utf8.DecodeRuneInString(text[head:])
		head += size
	}
	for range maxShown/2 - 1 {
		_, size := utf8.DecodeLastRuneInString(text[:tail])
		tail -= size
	}
	return text[:head] + "…" + text[tail:]
}

// quote puts text between double quotes as it is, because a regex is hard enough to
// read without doubled backslashes. It escapes a text with a quote or with characters
// that cannot be printed.
func quote(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r == '"' || !strconv.IsPrint(r) }) {
		return `"` + text + `"`
	}
	return strconv.Quote(text)
}
