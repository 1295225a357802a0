package static_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/regex/patterns"
)

// wildPatterns is how many random patterns the property is tried on.
const wildPatterns = 3000

// What the budget accepts neither traps a guest nor takes more memory or stack
// than it may. Time is logged, as a multiple of what a plain pattern takes in the
// same run, but it fails nothing: the machine may be busy. What bounds it is
// counted in work, and tested where the counters are: package regex.
func TestNoPatternThatTheBudgetAcceptsHarmsAGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	random := rand.New(rand.NewPCG(7, 8))
	nodes := nodesNamed(append(patterns.LongNames(1000), "kubecon-1", "other")...)
	guest := load(t, v2File, "", nodes)
	plain, worst := cost(t, guest, nodes, "^kubecon-"), times{}
	accepted := 0
	for i := range wildPatterns {
		pattern := patterns.Wild(random)
		if _, err := regex.Default.Compile(pattern); err != nil {
			if _, status := guest.PreFilter(podWith(pattern)); trapped(status) || status.Message() != printable(err.Error()) {
				t.Fatalf("%q is refused with %v, in the guest with %v", pattern, err, status)
			}
			continue
		}
		accepted++
		if c := cost(t, guest, nodes, pattern); c.worse(worst) {
			worst = worst.or(c.and(again(t, guest, nodes, pattern)))
		}
		if i%100 == 0 {
			plain = plain.and(cost(t, guest, nodes, "^kubecon-"))
		}
	}
	mustServeAnInnocentPod(t, guest, nodes)
	used := guest.StackUsed(stackSize)
	t.Logf("%d of %d patterns accepted; memory %d bytes, stack %d bytes", accepted, wildPatterns, guest.Memory(), used)
	t.Logf("worst PreFilter %v, a plain one from the cache %v: %.100q", worst.prefilter, plain.prefilter, worst.slow)
	t.Logf("worst Filter %v per node, of %d, a plain one %v: %.100q", worst.filter, len(nodes.Nodes), plain.filter, worst.slowFilter)
	if accepted < wildPatterns/10 || accepted > wildPatterns*9/10 {
		t.Error("so this proves little")
	}
	if guest.Memory() > maxMemory || used > stackSize/margin {
		t.Errorf("that is too much: %d and %d are allowed", maxMemory, stackSize/margin)
	}
}

// printable is a text as the host hands it on.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

// times is what a cycle took.
type times struct {
	prefilter, filter time.Duration // filter is per node
	slow, slowFilter  string        // the patterns
}

// worse reports whether a is in any way the worse.
func (a times) worse(b times) bool { return a.prefilter > b.prefilter || a.filter > b.filter }

// or is the worse of both.
func (a times) or(b times) times {
	if b.prefilter > a.prefilter {
		a.prefilter, a.slow = b.prefilter, b.slow
	}
	if b.filter > a.filter {
		a.filter, a.slowFilter = b.filter, b.slowFilter
	}
	return a
}

// and is the better of both.
func (a times) and(b times) times {
	a.prefilter, a.filter = min(a.prefilter, b.prefilter), min(a.filter, b.filter)
	return a
}

// again takes the times of patterns that mean the same, and that no cache knows
// yet, so that one busy moment of the machine is not taken for the pattern's.
func again(t *testing.T, guest *guest, nodes *snapshot.Handle, pattern string) times {
	best := times{prefilter: time.Hour, filter: time.Hour}
	for range 4 {
		pattern += "(?:)"
		if _, err := regex.Default.Compile(pattern); err != nil {
			break
		}
		best = best.and(cost(t, guest, nodes, pattern))
	}
	return best
}

// cost runs the cycle of a pattern, which must not trap.
func cost(t *testing.T, guest *guest, nodes *snapshot.Handle, pattern string) times {
	t.Helper()
	pod := podWith(pattern)
	began := time.Now()
	if _, status := guest.PreFilter(pod); !status.IsSuccess() {
		t.Fatalf("%q: %v", pattern, status)
	}
	between := time.Now()
	filterAll(t, guest, nodes, pod)
	perNode := time.Since(between) / time.Duration(len(nodes.Nodes))
	return times{between.Sub(began), perNode, pattern, pattern}
}

func filterAll(t *testing.T, guest *guest, nodes *snapshot.Handle, pod *v1.Pod) {
	t.Helper()
	for _, node := range nodes.Nodes {
		if status := guest.Filter(pod, node); trapped(status) {
			t.Fatalf("%q on %s: %v", pod.Annotations[regex.Annotation], node.Node().Name, status)
		}
	}
}
