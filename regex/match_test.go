package regex

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/regex/regextest"
)

// patterns are honest ones, and ones that exercise every kind of instruction.
var patterns = []string{
	``, `.*`, `kubecon-.*`, `^kubecon-`, `-1$`, `^(kubecon-1|kubecon-2)$`, `node-[0-9]{3}`,
	`^[a-z0-9-]{0,63}$`, `(?i)KUBECON`, `(?i)^k.*k$`, `(?i)[ks]`, `[^a-z]`, `a|b|`, `(a*)*b`, `(a|b)*a(a|b){6}$`,
	`\bgpu\b`, `\Bpu`, `^$`, `$^`, `(?m)^b$`, `(?m)^$`, `\A\z`, `a\z`, `(?s).`, `.`, `(?s)a.b`, `\d+\.\w`,
	`é`, `[à-ü]+`, `\pL`, `\PN`, `\p{Greek}$`, `[[:alpha:]]`, `x{2,5}y`, `(?U)a+`, `\x{fffd}`, `[^\x00-\x7f]`,
	`(?:^a|b$)`, `\b`, `\B`, `^\b`, `$\B`, `(?m)a$\nb`, `a.{0,10}b`, `[]a]`, `\Qa.b\E`, `(?P<name>a)`, `^*a`, `($|x)y`,
}

// names are names of nodes, and strings that no node bears.
var names = []string{
	"", "a", "b", "kubecon-1", "kubecon-2", "KubeCon-1", "node-007", "gpu", "x-gpu-1", "xgpux", "ip-10-0-1-23.ec2.internal",
	"aaaaaab", "abababab", "a\nb", "\n", "b\n", "\nb\n", "a.b", "axxb", "xxxy", "é", "aé", "\xff", "a\xc3", "\u212a", "ſ", "α", "�",
	"a0123456789b", "a01234567890b", "kubeck", "]", "_", "-", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("ab", 126),
}

// requiring compiles the pattern that names must match.
func requiring(pattern string) (Rules, error) {
	return Default.Compile(map[string]string{Annotation: pattern})
}

// Patterns at random are honest, hostile and neither.
func TestMatchAgreesWithRegexp(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	all, long := slices.Clone(patterns), regextest.LongNames(2)
	for range 1000 {
		all = append(all, regextest.Wild(random), regextest.Honest(random))
	}
	accepted, costly := 0, 0
	for i, pattern := range all {
		rules, err := requiring(pattern)
		if err != nil && i < len(patterns) {
			t.Errorf("Compile(%q): %v", pattern, err)
		}
		if err != nil {
			if strings.Contains(err.Error(), "too costly to match") {
				costly++
			}
			continue
		}
		accepted++
		want := regexp.MustCompile(pattern)
		for _, name := range slices.Concat(names, long, regextest.Names(random, 20)) {
			got := rules.Judge(name) == Qualifies
			if got != want.MatchString(name) {
				t.Errorf("%q matches %q: got %v", pattern, name, got)
			}
		}
	}
	t.Logf("%d accepted, %d too costly to match", accepted, costly)
	if accepted < 1000 || costly == 0 {
		t.Error("so this proves little")
	}
}

func FuzzMatch(f *testing.F) {
	for i, pattern := range patterns {
		f.Add(pattern, names[i%len(names)])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(name) > 1000 {
			return // nothing new, slowly
		}
		rules, err := requiring(pattern)
		if err != nil {
			return
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			t.Fatalf("regexp refuses %q, Compile does not: %v", pattern, err)
		}
		tree, err := syntax.Parse(pattern, syntax.Perl)
		must(t, err)
		estimated := instructions(tree)
		program, err := syntax.Compile(tree.Simplify())
		must(t, err)
		// Compile adds two: one that fails, one that matches.
		got := len(program.Inst)
		if got > estimated+2 {
			t.Fatalf("%q: %d instructions, estimated %d", pattern, got, estimated)
		}
		for _, similar := range []string{name, name + "-1", name + name, "node-" + name, name[len(name)/2:]} {
			got := rules.Judge(similar) == Qualifies
			if got != re.MatchString(similar) {
				t.Fatalf("%q matches %q: got %v", pattern, similar, got)
			}
		}
	})
}
