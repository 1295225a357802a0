package examples

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"

	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

const gpus = "nvidia.com/gpu"

// scorer asks a plugin for scores.
type scorer struct {
	plugin fwk.Plugin
	state  fwk.CycleState
}

func (s *scorer) begin(tb testing.TB, pod *v1.Pod, nodes []fwk.NodeInfo) {
	s.state = framework.NewCycleState()
	if p, ok := s.plugin.(fwk.PreFilterPlugin); ok {
		_, status := p.PreFilter(context.Background(), s.state, pod, nodes)
		testkit.Succeeds(tb, status)
	}
	if p, ok := s.plugin.(fwk.PreScorePlugin); ok {
		status := p.PreScore(context.Background(), s.state, pod, nodes)
		if !status.IsSuccess() && !status.IsSkip() {
			tb.Fatal(status)
		}
	}
}

func (s *scorer) score(tb testing.TB, pod *v1.Pod, node fwk.NodeInfo) int64 {
	score, status := s.plugin.(fwk.ScorePlugin).Score(context.Background(), s.state, pod, node)
	testkit.Succeeds(tb, status)
	return score
}

// packers are the guest of pack, and what of kube-scheduler packs a resource.
func packers(tb testing.TB, nodes ...*v1.Node) (guest, native *scorer, infos []fwk.NodeInfo) {
	dir := tb.TempDir()
	testkit.Must(tb, os.CopyFS(dir, os.DirFS("pack")))
	readAll(tb, "../guest")
	for _, line := range lines(tb, filepath.Join(dir, "README.md"), "    ")[:4] {
		run(tb, dir, "REPO="+absolute(tb, ".."), line)
	}
	handle := snapshot.Of(nodes...)
	host := wasmhost.New(fetch.Fetcher{}.Options())
	tb.Cleanup(func() { host.Close() })
	started, err := host.Start(tb.Context(), "Pack", wasmhost.Args{GuestURL: "file://" + filepath.Join(dir, "pack.wasm"), GuestConfig: gpus})
	testkit.Must(tb, err)
	fit, err := noderesources.NewFit(tb.Context(), &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{
		Type:      config.RequestedToCapacityRatio,
		Resources: []config.ResourceSpec{{Name: gpus, Weight: 1}},
		RequestedToCapacityRatio: &config.RequestedToCapacityRatioParam{
			Shape: []config.UtilizationShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}},
		},
	}}, handle, feature.Features{})
	testkit.Must(tb, err)
	return &scorer{plugin: started.Plugin(tb.Context(), handle)}, &scorer{plugin: fit}, handle.Nodes
}

func requestingGPUs(name string, amount int64) *v1.Pod {
	requests := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}
	if amount > 0 {
		requests[gpus] = *resource.NewQuantity(amount, resource.DecimalSI)
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: requests}}}},
	}
}

func withGPUs(name string, amount int64) *v1.Node {
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     v1.NodeStatus{Allocatable: v1.ResourceList{gpus: *resource.NewQuantity(amount, resource.DecimalSI), v1.ResourceCPU: resource.MustParse("64")}},
	}
}

// TestPackScoresAsKubeScheduler compares the scores of pods and nodes that are drawn by a seed.
func TestPackScoresAsKubeScheduler(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	var nodes []*v1.Node
	for i := range 100 {
		nodes = append(nodes, withGPUs(fmt.Sprint("n", i), draw.Int64N(17)))
	}
	guest, native, infos := packers(t, nodes...)
	for i := range 100 {
		pod := requestingGPUs(fmt.Sprint("p", i), draw.Int64N(9))
		guest.begin(t, pod, infos)
		native.begin(t, pod, infos)
		for _, node := range infos {
			is, want := guest.score(t, pod, node), native.score(t, pod, node)
			if is != want {
				t.Fatalf("pod %d on %s, which has %v of %v: score %d, and kube-scheduler's is %d", i, node.Node().Name, node.GetRequested(), node.GetAllocatable(), is, want)
			}
		}
		infos[draw.IntN(len(infos))].AddPodInfo(snapshot.PodInfo(pod))
	}
}

// BenchmarkPack scores a node: remembered, with another sum of GPUs each time, and by kube-scheduler's own plugin.
func BenchmarkPack(b *testing.B) {
	guest, native, infos := packers(b, withGPUs("n", 1<<40))
	pod := requestingGPUs("p", 1)
	infos[0].AddPodInfo(snapshot.PodInfo(pod))
	measure := func(name string, s *scorer, more func()) {
		b.Run(name, func(b *testing.B) {
			s.begin(b, pod, infos)
			for b.Loop() {
				more()
				s.score(b, pod, infos[0])
			}
		})
	}
	measure("remembered", guest, func() {})
	one := snapshot.PodInfo(pod)
	another := func() { infos[0].AddPodInfo(one) }
	measure("asked", guest, another)
	measure("native", native, func() {})
	measure("another pod", &scorer{plugin: nothing{}}, another)
}

// nothing scores 0.
type nothing struct{ fwk.ScorePlugin }

func (nothing) Score(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	return 0, nil
}
