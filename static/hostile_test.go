package static_test

import (
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

func TestHostilePatternsHarmNobodyElse(t *testing.T) {
	for _, file := range []string{v1File, v2File} {
		nodes := nodesNamed(append(patterns.LongNames(50), "kubecon-1", "other")...)
		guest := load(t, file, "", nodes)
		for name, pattern := range patterns.Hostile() {
			t.Run(file+": "+name, func(t *testing.T) {
				pod := podWith(pattern)
				if _, status := guest.PreFilter(pod); trapped(status) {
					t.Fatalf("PreFilter: %v", status)
				}
				for _, node := range nodes.Nodes {
					if status := guest.Filter(pod, node); trapped(status) {
						t.Fatalf("Filter: %v", status)
					}
				}
				mustServeAnInnocentPod(t, guest, nodes)
			})
		}
		if got := guest.Memory(); got > maxMemory {
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
