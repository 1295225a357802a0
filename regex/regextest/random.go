package regextest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Honest joins random pieces of what people write; hardly any two patterns are
// the same.
func Honest(random *rand.Rand) string {
	pieces := []func() string{
		func() string { return fmt.Sprintf("kubecon-%d", random.IntN(100)) },
		func() string { return fmt.Sprintf("ip-10-0-%d-", random.IntN(100)) },
		func() string { return fmt.Sprintf("[a-%c0-%d]", 'b'+random.IntN(24), random.IntN(10)) },
		func() string { return fmt.Sprintf("[^%c]", 'a'+random.IntN(26)) },
		func() string { return fmt.Sprintf("(%c|%c)", 'a'+random.IntN(26), 'a'+random.IntN(26)) },
		func() string { return fmt.Sprintf(`\d{%d,%d}`, random.IntN(3), 3+random.IntN(30)) },
		func() string { return ".*" },
		func() string { return "-" },
		func() string { return `\b` },
	}
	var b strings.Builder
	b.WriteString([]string{"", "^", "(?i)", "(?s)"}[random.IntN(4)])
	for range 1 + random.IntN(6) {
		b.WriteString(pieces[random.IntN(len(pieces))]())
		b.WriteString([]string{"", "", "", "?", "|"}[random.IntN(5)])
	}
	b.WriteString([]string{"", "", "$"}[random.IntN(3)])
	return b.String()
}

// Invalid is an honest pattern with a mistake in it.
func Invalid(random *rand.Rand) string {
	mistakes := []string{"(", "[", `\`, "a**", "x{2,1}", `\8`, "(?z)", "[z-a]", ")"}
	return Honest(random) + mistakes[random.IntN(len(mistakes))]
}

// Wild is a pattern that no person would write: nested, repeated, spliced of
// hostile ones, often near a bound, now and then not even a pattern.
func Wild(random *rand.Rand) string {
	switch random.IntN(4) {
	case 0:
		return splice(random, anyHostile(random), anyHostile(random))
	case 1:
		return splice(random, anyHostile(random), tree(random, 3))
	case 2:
		return strings.Repeat(tree(random, 2), 1+random.IntN(60))
	}
	return tree(random, 2+random.IntN(7))
}

// hostile is Hostile, in one order for all runs, without what is far too long.
var hostile = func() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(Hostile())) {
		pattern := Hostile()[name]
		if len(pattern) < 4096 {
			all = append(all, pattern)
		}
	}
	return all
}()

func anyHostile(random *rand.Rand) string { return hostile[random.IntN(len(hostile))] }

// splice puts the end of one pattern behind the beginning of another.
func splice(random *rand.Rand, a, b string) string {
	return a[:random.IntN(len(a)+1)] + b[random.IntN(len(b)+1):]
}

// tree nests expressions, down to leaves.
func tree(random *rand.Rand, depth int) string {
	if depth == 0 {
		return leaf(random)
	}
	sub := func() string { return tree(random, depth-1) }
	switch random.IntN(6) {
	case 0:
		return sub() + sub()
	case 1:
		return "(" + sub() + "|" + sub() + "|" + sub() + ")"
	case 2:
		return "(?:" + sub() + ")" + []string{"*", "+", "?", "*?", "+?", "??"}[random.IntN(6)]
	case 3:
		low := random.IntN(40)
		return fmt.Sprintf("(?:%s){%d,%d}", sub(), low, low+random.IntN(60))
	case 4:
		return "(?" + []string{"i", "s", "m", "U", "i-s"}[random.IntN(5)] + ":" + sub() + ")"
	}
	return sub()
}

func leaf(random *rand.Rand) string {
	leaves := []string{
		"a", "b", "ab", ".", "[a-z]", "[ab]", "[^b]", `\d`, `\w`, `\pL`, `\PN`, `[\pL\d-]`, `\b`, `\B`, "^", "$", `\z`,
		"", "é", `[\x{100}-\x{10ffff}]`, "k", `\Qa.b\E`, "[[:alpha:]]", ".{0,9}",
	}
	return leaves[random.IntN(len(leaves))]
}

// Names are names of nodes, some long enough to be costly.
func Names(random *rand.Rand, n int) []string {
	names := make([]string, n)
	for i := range names {
		switch random.IntN(4) {
		case 0:
			names[i] = fmt.Sprintf("kubecon-%d", random.IntN(1000))
		case 1:
			names[i] = fmt.Sprintf("ip-10-0-%d-%d.eu-west-1.compute.internal", random.IntN(256), random.IntN(256))
		case 2:
			names[i] = word(random, "ab", 253)
		default:
			names[i] = word(random, "abcdefghijklmnopqrstuvwxyz0123456789-.", 1+random.IntN(63))
		}
	}
	return names
}

func word(random *rand.Rand, alphabet string, length int) string {
	letters := make([]byte, length)
	for i := range letters {
		letters[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(letters)
}
