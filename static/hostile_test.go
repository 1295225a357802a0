package static_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/regex/regextest"
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

// What an annotation holds neither traps a guest nor takes more memory or stack than it may. What bounds the guest's time is
// counted in work, and tested where the counters are: package regex.
func TestHostilePatternsHarmNoOtherPod(t *testing.T) {
	hostile := slices.Sorted(maps.Values(regextest.Hostile()))
	random, wild := rand.New(rand.NewPCG(7, 8)), slices.Clone(hostile)
	for range 500 {
		wild = append(wild, regextest.Wild(random))
	}
	// Each call of v1 is slow; what it does with a pattern is package regex, as in v2.
	for file, all := range map[string][]string{v1File: hostile[:len(hostile)/5], v2File: wild} {
		t.Run(file, func(t *testing.T) {
			nodes := nodesNamed(append(regextest.LongNames(50), "kubecon-1", "other")...)
			guest := load(t, file, "", nodes)
			accepted := 0
			for _, pattern := range all {
				pod := podWith(pattern)
				_, status := guest.PreFilter(pod)
				_, err := regex.Default.Compile(map[string]string{regex.Annotation: pattern})
				if trapped(status) || file == v2File && status.IsSuccess() != (err == nil) {
					t.Fatalf("PreFilter of %.100q: %v, but %v", pattern, status, err)
				}
				for _, node := range nodes.Nodes {
					status := guest.Filter(pod, node)
					if trapped(status) {
						t.Fatalf("%.100q on %s: %v", pattern, node.Node().Name, status)
					}
				}
				if err == nil {
					accepted++
				}
				mustServeAnInnocentPod(t, guest, nodes)
			}
			used := guest.StackUsed(stackSize)
			t.Logf("%d of %d accepted; %d bytes of stack, %d of memory", accepted, len(all), used, guest.Memory())
			if used == 0 || used > stackSize/margin || guest.Memory() > maxMemory {
				t.Errorf("that is too much: %d and %d are allowed", stackSize/margin, maxMemory)
			}
			if accepted < len(all)/10 || accepted > len(all)*9/10 {
				t.Error("so this proves little")
			}
		})
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
