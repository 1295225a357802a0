package regex

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/regex/regextest"
)

func TestHonestPatternsAreWithinTheBudget(t *testing.T) {
	for _, pattern := range slices.Concat(patterns, regextest.Corpus(), []string{
		strings.Repeat("a", maxInstructions), strings.Repeat("(", maxParens) + strings.Repeat(")", maxParens),
		`kubecon.{0,20}east.{0,20}prod`, strings.Repeat(`\pL`, maxUnicodeClasses), `(?s-m:é\x{e9})`,
	}) {
		if _, err := requiring(pattern); err != nil {
			t.Error(err)
		}
	}
}

func TestRefusalsAreAddressedToTheAuthorOfThePattern(t *testing.T) {
	tests := []struct{ name, pattern, want string }{
		{"bad syntax", `kubecon-.*\`, `trailing backslash at end of expression: "kubecon-.*\"`},
		{"the whole pattern is shown once", `[a`, `missing closing ]: "[a"`},
		{"the fragment at fault is shown", `a{2,1}b`, `invalid repeat count "{2,1}": "a{2,1}b"`},
		{"a quotation mark is escaped", `"(`, `missing closing ): "\"("`},
		{"what is no text is escaped", "a\xffb", `invalid UTF-8 "\xffb": "a\xffb"`},
		{"a line break is escaped", "(\n", `missing closing ): "(\n"`},
		{"too long", strings.Repeat("a", 2049), `the pattern is too long: at most 2048 bytes, not 2049: "` + strings.Repeat("a", 64) + "…" + strings.Repeat("a", 63) + `"`},
		{"too many operators", strings.Repeat("a?", 501), `the pattern has too many operators: at most 500 of |?*+{[(.^$\, not 501: "a?`},
		{"too many groups", strings.Repeat("(?:a)", 101), `the pattern has too many groups: at most 100 opening parentheses, not 101: "(?:a)`},
		{"too many Unicode classes", `\PL` + strings.Repeat(`\p{Lu}`, 8), `the pattern has too many Unicode classes: at most 8 times \p, not 9`},
		{"folding beyond ASCII", `(?i)straße`, `the pattern must not mix (?i) with characters beyond ASCII or \x{…}: node names are ASCII: "(?i)straße"`},
		{"folding a wide range", `(?s-i:a)(?im:[\x{0}-\x{10ffff}])`, `must not mix (?i)`},
		{"unrolled repeats", `.{0,1000}a.{0,1000}b.{0,1000}c`, `the pattern is too costly: with its repeats written out it may hold at most 2000 characters and operators`},
		{"nested repeats", `((a{30}){30}){2}`, `invalid repeat count`},
		{"too many states", `(a|b)*a(a|b){300}$`, `the pattern is too costly to match against the nodes' names; use fewer or smaller repeats, or anchor it with ^: "(a|b)*a(a|b){300}$"`},
		{"nested repeats within what Go allows", `(((ab){10}){10}){10}`, `the pattern is too costly`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := requiring(tc.pattern)
			var refused *PatternError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v", err)
			}
			want := "annotation " + Annotation + ": "
			if !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %s\nwant %s%s", err, want, tc.want)
			}
		})
	}
}
