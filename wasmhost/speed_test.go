package wasmhost

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// openStatic starts a guest of static/, and with it a cycle of a pod whose regex
// half of the nodes match.
func openStatic(tb testing.TB, file string, args Args) (pl fwk.FilterPlugin, p *v1.Pod, nodes []fwk.NodeInfo) {
	tb.Helper()
	h := New(Options{})
	tb.Cleanup(func() { h.Close() })
	args.GuestURL = "file://../static/" + file
	opened, err := h.open(tb.Context(), "Wasm", args, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range 1000 {
		nodes = append(nodes, node(fmt.Sprintf("ip-10-%d-97-%d.eu-west-%d.compute", i%7, i, i%2)))
	}
	p = pod("web")
	p.Annotations = map[string]string{"scheduler.wasmkwokwizardry.io/regex": "eu-west-1"}
	return opened.(fwk.FilterPlugin), p, nodes
}

func TestFilterMakesNothingButTheStatusOfARejection(t *testing.T) {
	for _, file := range []string{"regex_v1.wasm", "regex_v2.wasm"} {
		pl, p, nodes := openStatic(t, file, Args{CallTimeout: NoCallTimeout}) // wazero makes something for calls that can be interrupted
		state := framework.NewCycleState()
		preFilter(t.Context(), pl, state, p)
		for i, most := range []float64{1, 0} { // the odd nodes match
			if pl.Filter(t.Context(), state, p, nodes[i]).IsSuccess() != (i == 1) {
				t.Fatalf("%s: node %d", file, i)
			}
			n := testing.AllocsPerRun(1000, func() { pl.Filter(t.Context(), state, p, nodes[i]) })
			if n > most {
				t.Errorf("%s: %v allocations for node %d, at most %v allowed", file, n, i, most)
			}
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	for _, file := range []string{"regex_v1.wasm", "regex_v2.wasm"} {
		for _, goroutines := range []int{1, 2, 16} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", strings.TrimSuffix(file, ".wasm"), goroutines), func(b *testing.B) {
				pl, p, nodes := openStatic(b, file, Args{})
				benchmarkCycles(b, goroutines, nodes, func() func(fwk.NodeInfo) {
					state := framework.NewCycleState()
					preFilter(b.Context(), pl, state, p)
					return func(node fwk.NodeInfo) { pl.Filter(b.Context(), state, p, node) }
				})
			})
		}
	}
	for _, goroutines := range []int{1, 2} {
		b.Run(fmt.Sprint("regexp/goroutines=", goroutines), func(b *testing.B) {
			_, _, nodes := openStatic(b, "regex_v2.wasm", Args{})
			benchmarkCycles(b, goroutines, nodes, func() func(fwk.NodeInfo) { return native(regexp.MustCompile("eu-west-1")) })
		})
	}
}

// native is a Filter in Go.
func native(re *regexp.Regexp) func(fwk.NodeInfo) {
	reasons := []string{fmt.Sprintf("node(s) didn't match the pod's node name regex %q", re)}
	return func(node fwk.NodeInfo) {
		if !re.MatchString(node.Node().Name) {
			runtime.KeepAlive(fwk.NewStatus(fwk.Unschedulable, reasons...))
		}
	}
}

// benchmarkCycles tells the time of a node in cycles over all of them, begun
// again each time: wall time and CPU time, which is what counts where
// others are busy too.
func benchmarkCycles(b *testing.B, goroutines int, nodes []fwk.NodeInfo, begin func() func(fwk.NodeInfo)) {
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		filter := begin()
		if goroutines == 1 {
			for _, node := range nodes {
				filter(node)
			}
			continue
		}
		var group sync.WaitGroup
		for g := range goroutines {
			group.Go(func() {
				for i := g; i < len(nodes); i += goroutines {
					filter(nodes[i])
				}
			})
		}
		group.Wait()
	}
	verdicts := float64(b.N * len(nodes))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/verdicts, "ns/node")
	b.ReportMetric(float64(cpuTime(b)-before)/verdicts, "cpu-ns/node")
}

func cpuTime(b *testing.B) int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

// BenchmarkPreFilter is of pods of some 8 KB that ask for nothing, a new one each
// time, as in a scheduler.
func BenchmarkPreFilter(b *testing.B) {
	pl, _, _ := openStatic(b, "regex_v2.wasm", Args{})
	pods := make([]*v1.Pod, 1000)
	for i := range pods {
		pods[i] = bigPod(i)
	}
	b.SetBytes(int64(pods[0].Size()))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, status := preFilter(b.Context(), pl, framework.NewCycleState(), pods[i%len(pods)])
		if !status.IsSkip() {
			b.Fatal(status)
		}
	}
}

func bigPod(i int) *v1.Pod {
	p := pod(fmt.Sprint("web-", i))
	p.Annotations, p.Labels = map[string]string{}, map[string]string{"app": "web"}
	for i := range 4 {
		p.Annotations[fmt.Sprint("example.com/", i)] = strings.Repeat("x", 500)
	}
	for i := range 2 {
		c := v1.Container{
			Name: fmt.Sprint("c", i), Image: "registry.example.com/web:1",
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("10m"), v1.ResourceMemory: resource.MustParse("16Mi")}},
		}
		for j := range 24 {
			c.Env = append(c.Env, v1.EnvVar{Name: fmt.Sprint("SETTING_", j), Value: fmt.Sprintf("https://service-%02d.prod.svc.cluster.local:8443/version/1/some/path?page=%d", j, j)})
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	return p
}
