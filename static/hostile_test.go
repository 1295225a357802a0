package static_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex/patterns"
)

// What no annotation may exceed.
const (
	maxMemory = 32 << 20
	stackSize = 1 << 20 // tools/guest.json
	margin    = 4       // of the stack
)

// trapped reports whether the host says that the guest is broken.
func trapped(status *fwk.Status) bool {
	return strings.Contains(status.Message(), "wasm:") || strings.Contains(status.Message(), "wasm error")
}

func TestHostilePatternsHarmNoOtherPod(t *testing.T) {
	all := patterns.Hostile()
	names := slices.Sorted(maps.Keys(all))
	// Each call of v1 is slow; what it does with a pattern is package regex, as in v2.
	for file, names := range map[string][]string{v1File: names[:len(names)/5], v2File: names} {
		nodes := nodesNamed(append(patterns.LongNames(50), "kubecon-1", "other")...)
		guest := load(t, file, "", nodes)
		for _, name := range names {
			t.Run(file+": "+name, func(t *testing.T) {
				pod := podWith(all[name])
				_, status := guest.PreFilter(pod)
				if trapped(status) {
					t.Fatalf("PreFilter: %v", status)
				}
				filterAll(t, guest, nodes, pod)
				mustServeAnInnocentPod(t, guest, nodes)
			})
		}
		got := guest.Memory()
		if got > maxMemory {
			t.Errorf("%s: %d bytes of memory", file, got)
		}
		used := guest.StackUsed(stackSize)
		t.Logf("%s: %d bytes of stack, %d of memory", file, used, guest.Memory())
		if used == 0 || used > stackSize/margin {
			t.Errorf("%s: used %d bytes of a stack of %d", file, used, stackSize)
		}
	}
}

func mustServeAnInnocentPod(t *testing.T, guest *guest, nodes *snapshot.Handle) {
	t.Helper()
	pod := podWith("^kubecon-")
	guest.PreFilter(pod)
	all := nodes.Nodes
	yes, no := guest.Filter(pod, all[len(all)-2]), guest.Filter(pod, all[len(all)-1])
	if !yes.IsSuccess() || !no.IsRejected() {
		t.Fatalf("an innocent pod afterwards: %v and %v", yes, no)
	}
}
