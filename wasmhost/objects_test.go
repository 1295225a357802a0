package wasmhost

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	kit "wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/filter"
	"wasmkwokwizardry.io/regex-scheduling/guest/guesttest"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

const gpu = "example.com/gpu"

// requesting is a pod that requests so much of resources.
func requesting(name, node string, requests map[v1.ResourceName]string) *v1.Pod {
	p := pod(name)
	p.Spec.NodeName = node
	list := v1.ResourceList{}
	for name, amount := range requests {
		list[name] = resource.MustParse(amount)
	}
	p.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: list}}}
	return p
}

func gpus(name, node string, amount int) *v1.Pod {
	return requesting(name, node, map[v1.ResourceName]string{gpu: fmt.Sprint(amount), v1.ResourceCPU: "1"})
}

// place puts a pod on a node, as the scheduler's cache does.
func place(t *testing.T, node fwk.NodeInfo, p *v1.Pod) (remove func()) {
	t.Helper()
	node.AddPodInfo(snapshot.PodInfo(p))
	return func() { testkit.Must(t, node.RemovePod(klog.Background(), p)) }
}

func TestGuestDecidesByThePodsThatANodeHasNow(t *testing.T) {
	r := openRemembering(t, "decides_by_gpus", Args{}, nodesNamed("a", "b")...)
	cycle := func(p *v1.Pod, want string) {
		t.Helper()
		passing, named, status := r.cycle(t, p)
		testkit.Succeeds(t, status)
		testkit.Equal(t, passing, want, "passing")
		testkit.Equal(t, named, false, "named") // a node that is not named is out for preemption
	}
	cycle(gpus("p", "", 2), "a b")
	removeFirst := place(t, r.Nodes[0], gpus("first", "a", 1))
	cycle(gpus("p", "", 2), "a b")
	removeSecond := place(t, r.Nodes[0], gpus("second", "a", 2))
	place(t, r.Nodes[1], requesting("cpus", "b", map[v1.ResourceName]string{v1.ResourceCPU: "7"}))
	before := r.asked(t)
	cycle(gpus("p", "", 2), "b")
	cycle(gpus("q", "", 2), "b")
	testkit.Equal(t, r.asked(t)-before, 1, "questions after a change of one node") // about 3 GPUs; that b has none is known
	cycle(gpus("small", "", 1), "a b")
	removeFirst()
	before = r.asked(t)
	cycle(gpus("p", "", 2), "a b")
	removeSecond()
	cycle(gpus("p", "", 2), "a b")
	testkit.Equal(t, r.asked(t)-before, 1, "questions after pods went") // about 2 GPUs; none were before
}

// As preemption and nominated pods do.
func TestGuestDecidesByThePodsOfATryOut(t *testing.T) {
	r := openRemembering(t, "decides_by_gpus", Args{}, nodesNamed("a")...)
	victim := gpus("victim", "a", 4)
	place(t, r.Nodes[0], victim)
	state := framework.NewCycleState()
	p := gpus("p", "", 1)
	r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
	filters := func(node fwk.NodeInfo) fwk.Code {
		return r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, p, node).Code()
	}
	without := r.Nodes[0].Snapshot()
	testkit.Must(t, without.RemovePod(klog.Background(), victim))
	testkit.Equal(t, filters(r.Nodes[0]), fwk.Unschedulable, "with the victim")
	testkit.Equal(t, filters(without), fwk.Success, "without the victim")
	// As the cycle of a group of pods does: on the snapshot's own node, which gets its generation back.
	testkit.Must(t, r.Nodes[0].RemovePod(klog.Background(), victim))
	r.Nodes[0].(*framework.NodeInfo).Generation = without.GetGeneration()
	testkit.Equal(t, filters(r.Nodes[0]), fwk.Success, "without the victim, on the node itself")
}

func TestScoreIsByThePodsThatANodeHasNow(t *testing.T) {
	r := openRemembering(t, "decides_by_gpus", Args{}, nodesNamed("a", "b")...)
	for placed := range 3 {
		state := framework.NewCycleState()
		p := gpus("p", "", 1)
		r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
		for i, want := range []int{placed, 0} {
			testkit.Equal(t, score(t, r.Plugin, state, p, r.Nodes[i]), int64(want), "%d pods on the first node: node %d", placed, i)
		}
		place(t, r.Nodes[0], gpus(fmt.Sprint("placed-", placed), "a", 1))
	}
}

// One cycle of preemption tries many sets of pods out: none of them costs memory, or an answer that is known.
func TestTryOutsAreNotRemembered(t *testing.T) {
	r := openRemembering(t, "decides_by_gpus", Args{}, nodesNamed("a")...)
	place(t, r.Nodes[0], gpus("first", "a", 1))
	state := framework.NewCycleState()
	p := gpus("p", "", 1)
	r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
	filter := func(node fwk.NodeInfo) {
		status := r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, p, node)
		if status.Code() == fwk.Error {
			t.Error(status)
		}
	}
	filter(r.Nodes[0])
	before := r.asked(t)
	tried := r.Nodes[0].Snapshot()
	for i := range 10 {
		place(t, tried, gpus(fmt.Sprint("victim-", i), "a", 1))
		filter(tried)
		filter(tried)
	}
	filter(r.Nodes[0].Snapshot()) // which has what the node has
	testkit.Equal(t, r.asked(t)-before, 20, "questions")
}

func TestGuestOfWhichNothingIsRememberedFindsTheAmountsThatItDeclares(t *testing.T) {
	pl := openWith(t, "counts_pods", Args{}, nil)
	full := node("full")
	place(t, full, gpus("first", "full", 1))
	for want, info := range map[fwk.Code]fwk.NodeInfo{fwk.Success: node("empty"), fwk.Unschedulable: full} {
		status := pl.(fwk.FilterPlugin).Filter(t.Context(), framework.NewCycleState(), pod("p"), info)
		if status.Code() != want || inside(pl).answers != nil {
			t.Errorf("node %s: %v; remembered: %v", info.Node().Name, status, inside(pl).answers != nil)
		}
	}
}

func TestPodIsWokenWhenPodsLeaveMoreOfWhatTheGuestCounts(t *testing.T) {
	large, small, nominated := gpus("other", "a", 2), gpus("other", "a", 1), gpus("other", "", 2)
	nominated.Status.NominatedNodeName = "a"
	for name, tt := range map[string]struct {
		event    fwk.ClusterEvent
		old, new any
		want     fwk.QueueingHint
	}{
		"a pod with GPUs is gone":    {framework.EventAssignedPodDelete, large, nil, fwk.Queue},
		"a pod without them is gone": {framework.EventAssignedPodDelete, requesting("other", "a", nil), nil, fwk.QueueSkip},
		"a nominated pod is gone":    {framework.EventAssignedPodDelete, nominated, nil, fwk.Queue},
		"a pending pod is gone":      {framework.EventAssignedPodDelete, gpus("other", "", 2), nil, fwk.QueueSkip},
		"a pod shrinks":              {framework.EventAssignedPodUpdate, large, small, fwk.Queue},
		"a pod grows":                {framework.EventAssignedPodUpdate, small, large, fwk.QueueSkip},
		"a pod comes":                {framework.EventAssignedPodAdd, nil, large, fwk.QueueSkip},
		"a node comes":               {added, nil, nodesNamed("b")[0], fwk.Queue},
		"a node changes otherwise":   {fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeLabel}, nodesNamed("a")[0], inZone("a", "x"), fwk.QueueSkip},
		"it requests less itself":    {fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodScaleDown}, gpus("p", "", 2), gpus("p", "", 1), fwk.Queue},
	} {
		t.Run(name, func(t *testing.T) {
			r := openRemembering(t, "decides_by_gpus", Args{}, nodesNamed("a")...)
			place(t, r.Nodes[0], gpus("first", "a", 4))
			p := gpus("p", "", 2)
			r.cycle(t, p)
			for range 2 { // for each pending pod
				testkit.Equal(t, r.hint(t, tt.event, p, tt.old, tt.new), tt.want, "the hint")
			}
		})
	}
}

func TestFieldOfAnUnknownResourceStopsTheStart(t *testing.T) {
	for name, counted := range map[string]bool{
		"cpu": true, "memory": true, "ephemeral-storage": true, "pods": true, "hugepages-2Mi": true, "nvidia.com/gpu": true, "gpu": false, "CPU": false,
	} {
		field := "node.requested['" + name + "']"
		err := startError(t, Args{GuestURL: "file://" + guests + "decides_by_config.wasm", GuestConfig: field + "\x00"})
		if counted && err != nil || !counted && (err == nil || !strings.Contains(err.Error(), field+": kube-scheduler counts no resource of that name, but cpu,")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPodIsSignedByWhatItRequests(t *testing.T) {
	pl := openWith(t, "decides_by_gpus", Args{}, nil)
	fragments, status := pl.(fwk.SignPlugin).SignPod(t.Context(), gpus("p", "", 2))
	testkit.Succeeds(t, status)
	testkit.Equal(t, fmt.Sprint(fragments), "[{pod.requests['example.com/gpu'] 2}]", "signed with")
}

// A pod and a node with resources as the kit reads them, and as any other reader of the object does.
func TestKitReadsTheResourcesThatTheHostAppends(t *testing.T) {
	p := requesting("p", "", map[v1.ResourceName]string{gpu: "2", v1.ResourceCPU: "1500m", v1.ResourceMemory: "1Gi"})
	p.Spec.InitContainers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("2")}}}}
	p.Spec.Overhead = v1.ResourceList{v1.ResourceCPU: resource.MustParse("10m")}
	object := inZone("a", "west")
	object.Status.Allocatable = v1.ResourceList{gpu: resource.MustParse("8"), v1.ResourceCPU: resource.MustParse("4"), v1.ResourcePods: resource.MustParse("110")}
	info := framework.NewNodeInfo()
	info.SetNode(object)
	place(t, info, gpus("first", "a", 3))
	declared := func(of string) (fields []abi.Field) {
		for _, f := range []abi.Field{
			{Kind: abi.Requests, Key: gpu}, {Kind: abi.Allocatable, Key: gpu}, {Kind: abi.Requested, Key: gpu}, {Kind: abi.Requested, Key: "none"}, {Kind: abi.Pods},
		} {
			if (f.Kind == abi.Requests) == (of == "pod") {
				fields = append(fields, f)
			}
		}
		return fields
	}
	names := []string{gpu, "cpu", "memory", "pods", "none"}
	for name, tt := range map[string]struct {
		visible                          visible
		requests, allocatable, requested string
		pods                             string
	}{
		"a guest that asks for all": {
			visible{resources: true},
			"[2 true 2010 true 1073741824 true 1 true 0 true]", "[8 true 4000 true 0 true 110 true 0 true]", "[3 true 1000 true 0 true 1 true 0 true]", "1 true",
		},
		"a guest that declares": {
			visible{declared: &abi.Fields{Pod: declared("pod"), Node: declared("node")}},
			"[2 true 0 false 0 false 0 false 0 false]", "[8 true 0 false 0 false 0 false 0 false]", "[3 true 0 false 0 false 0 false 0 true]", "1 true",
		},
		"a guest that asks for none": {
			visible{},
			"[0 false 0 false 0 false 0 false 0 false]", "[0 false 0 false 0 false 0 false 0 false]", "[0 false 0 false 0 false 0 false 0 false]", "0 false",
		},
	} {
		t.Run(name, func(t *testing.T) {
			encodedPod, err := (&shownPod{tt.visible, p}).Marshal()
			testkit.Must(t, err)
			encodedNode, err := (&shownNode{tt.visible, info}).Marshal()
			testkit.Must(t, err)
			var readPod v1.Pod
			var readNode v1.Node
			testkit.Must(t, readPod.Unmarshal(encodedPod))
			testkit.Must(t, readNode.Unmarshal(encodedNode))
			if tt.visible.declared == nil && (readPod.UID != types.UID("p") || readNode.Labels["zone"] != "west") {
				t.Errorf("Kubernetes reads %v and %v", readPod.ObjectMeta, readNode.ObjectMeta)
			}
			var requests, allocatable, requested []string
			pods := ""
			filter.Set(func(p kit.Pod, n kit.Node) kit.Status {
				for _, name := range names {
					requests = append(requests, fmt.Sprint(p.Requests(name)))
					allocatable = append(allocatable, fmt.Sprint(n.Allocatable(name)))
					requested = append(requested, fmt.Sprint(n.Requested(name)))
				}
				pods = fmt.Sprint(n.Pods())
				return kit.Status{}
			})
			guesttest.Call(t, "filter", guesttest.Input{
				Pod: guesttest.Object{Protobuf: encodedPod}, Nodes: []guesttest.Object{{Name: "a", Protobuf: encodedNode}}, Node: "a",
			})
			got := []string{fmt.Sprint(requests), fmt.Sprint(allocatable), fmt.Sprint(requested), pods}
			testkit.Equal(t, got, []string{tt.requests, tt.allocatable, tt.requested, tt.pods}, "what the kit reads")
		})
	}
}
