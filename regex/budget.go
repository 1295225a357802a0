package regex

import (
	"regexp/syntax"
	"strconv"
	"strings"
)

// The budget of a pattern. RATIONALE.md has the measurements behind each number.
//
// All but the last are checked on the text. For patterns that it finds too large,
// syntax.Parse panics and recovers, which TinyGo cannot do on Wasm; and its recursion
// must fit the guest's stack.
const (
	// maxPattern bounds the pattern's length, in bytes.
	maxPattern = 2048
	// maxOperators bounds the characters that mean more than themselves: each
	// is a node of the parser's tree, and beyond 1,000 nodes it keeps a map.
	maxOperators = 500
	// maxParens bounds the opening parentheses: nesting is recursion.
	maxParens = 100
	// maxUnicodeClasses bounds the \p and \P: each is built from big tables.
	maxUnicodeClasses = 8
	// maxInstructions bounds the size of the program, estimated on the tree.
	maxInstructions = 2000
)

// checkText applies the bounds that must hold before the pattern is parsed. It
// returns what is wrong with the pattern, or "". It may count an escaped character
// as a special one, never the other way round.
func checkText(pattern string) string {
	if len(pattern) > maxPattern {
		return atMost("is too long", maxPattern, "bytes", len(pattern))
	}
	n := countAny(pattern, operators)
	if n > maxOperators {
		return atMost("has too many operators", maxOperators, "of "+operators, n)
	}
	n = strings.Count(pattern, "(")
	if n > maxParens {
		return atMost("has too many groups", maxParens, "opening parentheses", n)
	}
	n = strings.Count(pattern, `\p`) + strings.Count(pattern, `\P`)
	if n > maxUnicodeClasses {
		return atMost(`has too many Unicode classes`, maxUnicodeClasses, `times \p`, n)
	}
	if ignoresCase(pattern) && beyondASCII(pattern) {
		return `the pattern must not mix (?i) with characters beyond ASCII or \x{…}: node names are ASCII`
	}
	return ""
}

// operators are the characters that begin something other than themselves.
const operators = `|?*+{[(.^$\`

func countAny(text, chars string) (n int) {
	for i := range len(text) {
		if strings.IndexByte(chars, text[i]) >= 0 {
			n++
		}
	}
	return n
}

func atMost(complaint string, limit int, unit string, got int) string {
	return "the pattern " + complaint + ": at most " + strconv.Itoa(limit) + " " + unit + ", not " + strconv.Itoa(got)
}

// ignoresCase reports whether any flag group, such as (?i) or (?s-mi:, names i.
func ignoresCase(pattern string) bool {
	for {
		_, rest, found := strings.Cut(pattern, "(?")
		if !found {
			return false
		}
		flags := strings.TrimLeft(rest, "smU-")
		if strings.HasPrefix(flags, "i") {
			return true
		}
		pattern = rest
	}
}

// beyondASCII reports whether the pattern can spell a range that reaches past
// ASCII: folding the case of a wide range takes milliseconds.
func beyondASCII(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		if pattern[i] >= 0x80 {
			return true
		}
	}
	return strings.Contains(pattern, `\x{`)
}

// instructions bounds from above how many instructions syntax.Compile makes of
// a tree whose repeats are not written out yet. It stops counting soon after
// maxInstructions.
func instructions(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += instructions(sub)
		if n > maxInstructions {
			return n
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCapture, syntax.OpStar: // (x*)* becomes ((x*)+)?
		return n + 2
	case syntax.OpConcat:
		return max(n, 1)
	case syntax.OpAlternate:
		return n + len(re.Sub) - 1
	case syntax.OpRepeat:
		return (n+1)*max(re.Min, re.Max) + 2
	}
	return n + 1
}
