package static_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/regex/patterns"
)

// wildPatterns is how many random patterns the property is tried on.
const wildPatterns = 3000

// What the budget accepts neither traps a guest nor takes more memory or stack than it may. What bounds its
// time is counted in work, and tested where the counters are: package regex.
func TestV2IsNotHarmedByPatternsThatTheBudgetAccepts(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	nodes := nodesNamed(append(patterns.LongNames(100), "kubecon-1", "other")...)
	guest := load(t, v2File, "", nodes)
	accepted := 0
	for range wildPatterns {
		pattern := patterns.Wild(random)
		pod := podWith(pattern)
		_, status := guest.PreFilter(pod)
		if _, err := regex.Default.Compile(pattern); err != nil {
			if trapped(status) || status.Message() != printable(err.Error()) {
				t.Fatalf("%q is refused with %v, in the guest with %v", pattern, err, status)
			}
			continue
		}
		if !status.IsSuccess() {
			t.Fatalf("%q: %v", pattern, status)
		}
		accepted++
		filterAll(t, guest, nodes, pod)
	}
	mustServeAnInnocentPod(t, guest, nodes)
	used := guest.StackUsed(stackSize)
	t.Logf("%d of %d patterns accepted; memory %d bytes, stack %d bytes", accepted, wildPatterns, guest.Memory(), used)
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

func filterAll(t *testing.T, guest *guest, nodes *snapshot.Handle, pod *v1.Pod) {
	t.Helper()
	for _, node := range nodes.Nodes {
		status := guest.Filter(pod, node)
		if trapped(status) {
			t.Fatalf("%q on %s: %v", pod.Annotations[regex.Annotation], node.Node().Name, status)
		}
	}
}
