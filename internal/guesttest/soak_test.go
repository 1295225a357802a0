package guesttest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// cycles is how many pods the soak schedules, each with another pattern.
const cycles = 200_000

func TestSoakOfDifferingPatterns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	nodes := NewNodes("kubecon-1", "ip-10-0-17-4.eu-west-1.compute.internal", "gke-prod-pool-1-5f3b")
	guest := Load(t, v2File, "", nodes)
	random := rand.New(rand.NewPCG(3, 4))
	settled := 0
	for i := range cycles {
		pattern := randomPattern(random)
		want, err := regexp.Compile(pattern)
		if err != nil {
			t.Fatalf("the test made %q: %v", pattern, err)
		}
		pod := Pod(pattern)
		if _, status := guest.PreFilter(pod); !status.IsSuccess() {
			t.Fatalf("cycle %d: PreFilter of %q: %v", i, pattern, status)
		}
		for _, node := range nodes.All() {
			status := guest.Filter(pod, node)
			if trapped(status) || status.IsSuccess() != want.MatchString(node.Node().Name) {
				t.Fatalf("cycle %d: %q on %s: %v", i, pattern, node.Node().Name, status)
			}
		}
		if i == cycles/10 {
			settled = guest.Memory()
		}
	}
	t.Logf("memory %d bytes after a tenth of the cycles, %d after all", settled, guest.Memory())
	if grown := guest.Memory() - settled; grown > 1<<20 {
		t.Errorf("memory grew by %d bytes after the first tenth, from %d", grown, settled)
	}
}

// randomPattern joins random pieces; hardly any two patterns are the same.
func randomPattern(random *rand.Rand) string {
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
