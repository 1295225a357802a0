// Package regextest makes patterns for tests: honest ones, hostile ones, and wild
// ones at random, with names to match them against. It knows nothing of the
// policy that is tested with them, so that tests of that policy may use it.
package regextest

import (
	"fmt"
	"strings"
)

// Hostile are patterns that try to be costly: to parse, to compile, to match,
// or by nesting. Some are accepted, some refused.
func Hostile() map[string]string {
	many := strings.Repeat
	return map[string]string{
		"of the talk: counted repeats":     `.{0,1000}a.{0,1000}b.{0,1000}c`,
		"of the talk: nesting":             many("(", 300) + many(")", 300),
		"alternation of names":             HundredNames(),
		"states double with each letter":   `(a|b)*a(a|b){300}`,
		"states double, with classes":      `[ab]*a[ab]{900}$`,
		"optional characters":              `(?:.?){900}x`,
		"counters":                         `.{0,30}a.{0,30}b.{0,30}c`,
		"a counter to the end":             `^[a-y]{0,1000}z$`,
		"nested groups":                    many("(", 100) + "a" + many(")", 100),
		"nested stars":                     many("(", 100) + "a" + many(")*", 100),
		"nested options":                   many("(?:", 100) + "a?" + many(")?", 100),
		"nested alternatives":              many("(a|", 100) + many(")", 100),
		"nested repeats":                   `((((a{5}){5}){5}){5}){3}`,
		"nested optional repeats":          `((((a{0,5}){0,5}){0,5}){0,5}){0,1}`,
		"repeats beyond 1000":              `((a{100}){100}){100}`,
		"repeats of nothing":               `(?:(?:){1000}){1000}`,
		"a repeat of empty alternatives":   `(?:|||){1000}`,
		"a long literal, repeated no time": "(?:" + many("a", 2000) + "){0}",
		"Unicode classes":                  many(`\pL`, 8),
		"negated Unicode classes":          many(`[^\pL]`, 8),
		"folded Unicode classes":           "(?i)" + many(`\pL`, 8),
		"folded, negated Unicode classes":  "(?i)" + many(`[^\pL]`, 8),
		"one folded class of classes":      "(?i)[" + many(`\pL\PN`, 4) + "]",
		"repeated Unicode classes":         "(?:" + many(`\pL`, 8) + "){100}",
		"a repeated class of classes":      "[" + many(`\pL\PN`, 4) + "]{900}",
		"too many Unicode classes":         many(`\pL`, 9),
		"folded wide ranges":               `(?i)[\x{0}-\x{10ffff}]{10}`,
		"wide ranges":                      "[" + joined(405, "", func(i int) string { return fmt.Sprintf("%c-%c", 0x100+3*i, 0x101+3*i) }) + "]",
		"folded classes":                   "(?i)[" + many("a-z0-9_", 200) + "]",
		"folded literal":                   "(?i)" + many("k", 2000),
		"folded alternatives":              "(?i)" + many("k|", 1000),
		"short alternatives":               many("a|", 1000),
		"empty alternatives":               many("|", 2000),
		"empty alternatives, starred":      "(?:" + many("|", 2000) + ")*",
		"prefixes of each other":           joined(60, "|", func(i int) string { return many("a", i) }),
		"many classes":                     many("[a-z]", 400),
		"many ranges":                      many("[[:word:][:^alpha:]]", 100),
		"classes of classes":               many(`[\w\s\d\W]`, 200),
		"many optionals":                   many("a?", 1000),
		"many lazy stars":                  many("a*?", 650),
		"many stars of stars":              many("(?:a*)*", 50),
		"many pluses":                      many("[a-z]+", 300),
		"many dots":                        many(".+", 900),
		"many digits":                      many(`\d`, 1000),
		"many word boundaries":             many(`\b`, 900) + "x",
		"contradictions":                   many(`\b\B`, 500),
		"empty lines":                      "(?m)" + many("^$", 500),
		"optional assertions":              many(`(?:\b|$)?`, 30),
		"optional ends":                    many("$?", 1000),
		"flags":                            many("(?i:a)(?s:.)", 50),
		"named groups":                     joined(100, "", func(i int) string { return fmt.Sprintf("(?P<n%d>a)", i) }),
		"a name twice":                     many("(?P<a>a)", 100),
		"quoted parentheses":               `\Q` + many("(", 90),
		"open classes":                     many("[", 2000),
		"backslashes":                      many(`\`, 2001),
		"dashes":                           "[" + many("a-", 1000) + "]",
		"octal":                            many(`\377`, 500),
		"hexadecimal":                      many(`\x{10FFFF}`, 200),
		"not ASCII":                        many("é", 1000),
		"not UTF-8":                        many("\xff", 1000),
		"too long":                         many("a", 1<<18),
	}
}

// HundredNames is an alternation of 100 names: long, but honest.
func HundredNames() string {
	return joined(100, "|", func(i int) string { return fmt.Sprintf("ip-10-0-%d-%d", i, i*7%256) })
}

// joined is n texts with a separator between them.
func joined(n int, separator string, text func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = text(i)
	}
	return strings.Join(all, separator)
}

// LongNames are names of nodes that suit hostile patterns: long, and all
// different.
func LongNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		name := []byte(strings.Repeat("ab", 126) + "a")
		for bit := range 12 {
			if i>>bit&1 == 1 {
				name[240-3*bit], name[100+5*bit] = 'b', 'a'
			}
		}
		names[i] = string(name)
	}
	return names
}
