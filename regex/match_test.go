package regex

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
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

func TestMatchAgreesWithRegexp(t *testing.T) {
	for _, pattern := range patterns {
		selector, err := Default.Compile(pattern)
		if err != nil {
			t.Errorf("Compile(%q): %v", pattern, err)
			continue
		}
		want := regexp.MustCompile(pattern)
		for _, name := range names {
			if got := selector.Match(name); got != want.MatchString(name) {
				t.Errorf("%q matches %q: got %v", pattern, name, got)
			}
		}
	}
}

func TestMatchAgreesWithRegexpWhenTheTableIsDroppedAgainAndAgain(t *testing.T) {
	const pattern = `(a|b)*a(a|b){12}$` // some 2¹³ states
	selector, err := Default.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(pattern)
	random := rand.New(rand.NewPCG(1, 2))
	d := newDFA()
	d.use(selector.program)
	drops := 0
	for range 2000 {
		name := randomName(random, "ab", 253)
		before := len(d.contexts)
		if got, _ := d.match(name, 1<<30); got != want.MatchString(name) {
			t.Fatalf("%q: got %v", name, got)
		}
		for range 2 { // what leads from state to state, then what is remembered of it
			if got := d.warm(selector.Ticket(), name); got != unknown && (got == matched) != want.MatchString(name) {
				t.Fatalf("%q: warm, got %v", name, got)
			}
		}
		if len(d.contexts) < before {
			drops++
		}
	}
	if drops < 10 {
		t.Errorf("the table was dropped %d times, so this proves little", drops)
	}
}

func randomName(random *rand.Rand, alphabet string, length int) string {
	name := make([]byte, length)
	for i := range name {
		name[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(name)
}

func TestAWarmMatchAllocatesNothing(t *testing.T) {
	selector, err := Default.Compile(`^(kubecon|cncf)-[0-9]+$`)
	if err != nil {
		t.Fatal(err)
	}
	cycle, d := selector.Begin(), newDFA()
	allocations := testing.AllocsPerRun(1000, func() {
		for _, name := range []string{"kubecon-1", "cncf-22", "other"} {
			if _, err := cycle.match(d, name); err != nil {
				t.Fatal(err)
			}
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
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
		selector, err := Default.Compile(pattern)
		if err != nil {
			return
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			t.Fatalf("regexp refuses %q, Compile does not: %v", pattern, err)
		}
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		// Compile adds two: one that fails, one that matches.
		if got := len(selector.program.insts); got > instructions(tree)+2 {
			t.Fatalf("%q: %d instructions, estimated %d", pattern, got, instructions(tree))
		}
		for range 3 { // new, then from state to state, then from memory
			for _, similar := range []string{name, name + "-1", name + name, "node-" + name, name[len(name)/2:]} {
				if got := selector.Match(similar); got != re.MatchString(similar) {
					t.Fatalf("%q matches %q: got %v", pattern, similar, got)
				}
			}
		}
	})
}
