package abi

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/static"
)

// oneNode is a scheduler with a node.
type oneNode struct {
	NoScheduler
	node *v1.Node
}

func (s oneNode) Node(string) (Message, error) { return s.node, nil }
func (s oneNode) Nodes() (Message, error)      { return &v1.NodeList{Items: []v1.Node{*s.node}}, nil }

// BenchmarkMeter measures what the meter costs: the same calls with it and without it, in turns, since the machine may be
// busy with others.
func BenchmarkMeter(b *testing.B) {
	patterns := []string{}
	for n := range 4000 {
		patterns = append(patterns, fmt.Sprintf("^(eu|us)-west-[0-9]+-%d(a|b)?$|kubecon-.*%d", n, n))
	}
	for _, bm := range []struct {
		name, guest string
		hook        Hook
		patterns    []string
	}{
		{"v2-prefilter-new", "regex_v2.wasm", PreFilter, patterns},
		{"v2-prefilter-known", "regex_v2.wasm", PreFilter, patterns[:1]},
		{"v2-filter", "regex_v2.wasm", Filter, patterns[:1]},
		{"v1-filter", "regex_v1.wasm", Filter, patterns[:1]},
	} {
		b.Run(bm.name, func(b *testing.B) {
			wasm, err := static.Files.ReadFile(bm.guest)
			if err != nil {
				b.Fatal(err)
			}
			var took [2][]float64 // ns of a call
			var instances [2]*Instance
			for n := range instances {
				g, err := Compile(b.Context(), wasm, Options{MemoryLimit: 256 << 20, Interruptible: n == 1})
				if err != nil {
					b.Fatal(err)
				}
				defer g.Close(b.Context())
				instances[n], err = g.Start(b.Context(), Settings{})
				if err != nil {
					b.Fatal(err)
				}
			}
			for k := 0; b.Loop(); k++ {
				for n, i := range instances {
					i.In = In{Scheduler: oneNode{node: &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "eu-west-17-0a"}}}, NodeName: "eu-west-17-0a"}
					i.In.Pod = podWith(bm.patterns[k%len(bm.patterns)])
					if bm.hook == Filter {
						ask(b, i, PreFilter)
					}
					began := time.Now()
					ask(b, i, bm.hook)
					took[n] = append(took[n], float64(time.Since(began).Nanoseconds()))
				}
			}
			for n := range took {
				slices.Sort(took[n])
			}
			plain, metered := took[0][len(took[0])/2], took[1][len(took[1])/2]
			b.ReportMetric(plain, "plain-ns")
			b.ReportMetric(metered, "metered-ns")
			b.ReportMetric(metered/plain, "ratio")
		})
	}
}

func ask(b *testing.B, i *Instance, h Hook) {
	b.Helper()
	if i.functions[h] == nil {
		return
	}
	if _, err := i.Call(h); err != nil {
		b.Fatal(err)
	}
}

func podWith(pattern string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"scheduler.wasmkwokwizardry.io/regex": pattern}}}
}
