package abi

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/static"
)

// oneNode is a scheduler with a node.
type oneNode struct {
	NoScheduler
	node *v1.Node
}

func (s oneNode) Node(string) (Message, error) { return s.node, nil }
func (s oneNode) Nodes() (Message, error)      { return &v1.NodeList{Items: []v1.Node{*s.node}}, nil }

// BenchmarkMeter measures what the meter costs: the same calls without it and with it.
func BenchmarkMeter(b *testing.B) {
	for _, bm := range []struct {
		name, guest string
		hook        Hook
		patterns    int
	}{
		{"v2-prefilter-new", "regex_v2.wasm", PreFilter, 4000},
		{"v2-prefilter-known", "regex_v2.wasm", PreFilter, 1},
		{"v2-filter", "regex_v2.wasm", Filter, 1},
		{"v1-filter", "regex_v1.wasm", Filter, 1},
	} {
		for _, metered := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/meter=%v", bm.name, metered), func(b *testing.B) {
				wasm, err := static.Files.ReadFile(bm.guest)
				testkit.Must(b, err)
				g, err := Compile(b.Context(), wasm, Options{MemoryLimit: 256 << 20, Interruptible: metered})
				testkit.Must(b, err)
				defer g.Close(b.Context())
				i, err := g.Start(b.Context(), Settings{})
				testkit.Must(b, err)
				node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "eu-west-17-0a"}}
				for k := 0; b.Loop(); k++ {
					i.In = In{Scheduler: oneNode{node: node}, NodeName: node.Name, Pod: podWith(k % bm.patterns)}
					if bm.hook != PreFilter && k == 0 && i.functions[PreFilter] != nil {
						call(b, i, PreFilter)
					}
					call(b, i, bm.hook)
				}
			})
		}
	}
}

func call(b *testing.B, i *Instance, h Hook) {
	b.Helper()
	testkit.Must(b, i.Call(h, &Out{}))
}

// podWith is a pod with one of many patterns.
func podWith(n int) *v1.Pod {
	pattern := fmt.Sprintf("^(eu|us)-west-[0-9]+-%d(a|b)?$|kubecon-.*%d", n, n)
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"scheduler.wasmkwokwizardry.io/regex": pattern}}}
}
