package wasmhost

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// about is a pod whose annotation has a value.
func about(name, value string) *v1.Pod {
	p := pod(name)
	p.Annotations = map[string]string{"a": value, "name": name}
	return p
}

// inZone is a node with a label.
func inZone(name, zone string) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}}}
}

// nodesNamed are nodes without labels.
func nodesNamed(names ...string) (nodes []*v1.Node) {
	for _, name := range names {
		nodes = append(nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return nodes
}

// numbered are so many nodes, whose names begin with these letters in turn.
func numbered(letters string, n int) (nodes []*v1.Node) {
	for i := range n {
		nodes = append(nodes, nodesNamed(fmt.Sprintf("%c-%d", letters[i%len(letters)], i))...)
	}
	return nodes
}

// remembering is a guest of which answers are remembered, with the nodes of its
// cluster.
type remembering struct {
	fwk.Plugin
	guest *guest
	*snapshot.Handle
}

// openRemembering starts one whose series begin at zero, as openCounted does.
func openRemembering(t *testing.T, guest string, args Args, nodes ...*v1.Node) *remembering {
	t.Helper()
	for _, series := range []interface{ Reset() }{answersTotal, rememberedPods, rememberedBytes} {
		series.Reset()
	}
	h := snapshot.Of(nodes...)
	pl := openWith(t, guest, args, h)
	return &remembering{pl, inside(pl), h}
}

// cycle asks as the scheduler does in a cycle, and returns the nodes that pass.
func (r *remembering) cycle(t *testing.T, p *v1.Pod) (passing string, named bool, status *fwk.Status) {
	t.Helper()
	state := framework.NewCycleState()
	result, status := r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
	if !status.IsSuccess() {
		return "", false, status
	}
	var names []string
	for _, node := range r.Nodes {
		name := node.Node().Name
		if result.AllNodes() || result.NodeNames.Has(name) {
			status := r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, p, node)
			if status.IsSuccess() {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, " "), !result.AllNodes(), nil
}

// asked is how often the guest was asked so far, of this test's plugin.
func (r *remembering) asked(t *testing.T) int {
	t.Helper()
	return counted(t, answersTotal, "asked")
}

var added = fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}

// hint is whether an event wakes a pod, as the scheduler finds it out.
func (r *remembering) hint(t *testing.T, event fwk.ClusterEvent, pod *v1.Pod, oldObj, newObj any) fwk.QueueingHint {
	t.Helper()
	registered, err := unmask(r.Plugin).EventsToRegister(t.Context())
	testkit.Must(t, err)
	hint := fwk.QueueSkip
	for _, e := range registered {
		if !framework.MatchClusterEvents(e.Event, event) {
			continue
		}
		got, err := e.QueueingHintFn(klog.Background(), pod, oldObj, newObj)
		testkit.Must(t, err)
		hint = max(hint, got)
	}
	return hint
}

func TestGuestThatDeclaresIsAskedOnce(t *testing.T) {
	r := openRemembering(t, "decides_by", Args{}, nodesNamed("n1", "m1", "m2", "m3", "n2")...)
	before := r.asked(t)
	for i := range 3 {
		passing, named, status := r.cycle(t, about(fmt.Sprint("web-", i), "x"))
		if passing != "n1 n2" || named != (i > 0) || status != nil { // of the first pod's nodes, Filter asks
			t.Errorf("pod %d: passing %q, named: %v, %v", i, passing, named, status)
		}
	}
	testkit.Equal(t, r.asked(t)-before, 5, "questions about 3 pods and 5 nodes")
	r.guest.metrics.flush()
	testkit.Equal(t, counted(t, answersTotal, "remembered"), 2*2, "answers for 2 nodes that were named to 2 pods")
	passing, _, _ := r.cycle(t, about("db", "y"))
	testkit.Equal(t, passing, "n1 n2", "passing, by another value")
	testkit.Equal(t, r.asked(t)-before, 10, "questions, by another value")
}

// The nodes of a first cycle, and then those of a second one.
func TestGuestIsAskedAboutNewValuesOnly(t *testing.T) {
	for _, tt := range []struct {
		name, guest   string
		first, second []*v1.Node
		passing       string
		asked         int // in the second cycle
	}{
		{"new nodes", "decides_by", nodesNamed("n1", "m1", "m2"), nodesNamed("n1", "m2", "n3", "m4", "m5", "m6"), "n1 n3", 4},
		{
			"nodes that the guest cannot tell apart", "decides_by_zone", nil,
			[]*v1.Node{inZone("a", "east"), inZone("b", "west"), inZone("c", "east"), inZone("d", "east"), nodesNamed("west")[0]},
			"b", 3,
		},
		{
			"nodes whose field changes", "decides_by_zone",
			[]*v1.Node{inZone("a", "east"), inZone("b", "west"), inZone("c", "east")},
			[]*v1.Node{inZone("a", "northwest"), inZone("b", "east"), inZone("c", "east")},
			"a", 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openRemembering(t, tt.guest, Args{}, tt.first...)
			r.cycle(t, about("web", "x"))
			before := r.asked(t)
			r.Handle = snapshot.Of(tt.second...)
			passing, named, _ := r.cycle(t, about("web", "x"))
			testkit.Equal(t, passing, tt.passing, "passing")
			testkit.Equal(t, named, true, "named")
			testkit.Equal(t, r.asked(t)-before, tt.asked, "questions")
		})
	}
}

func TestPodsEventReportsNodesThatWereNotNamed(t *testing.T) {
	for _, tt := range []struct {
		nodes                []*v1.Node
		named                int
		rejected, postFilter string
	}{
		{nodesNamed("n1", "m1", "m2"), 1, "", "2 another letter"},
		{nodesNamed("n1", "n2", "n3", "n4", "n5", "m1"), 0, "", ""}, // most pass: Filter says it of the other
		{nodesNamed("m1", "m2", "m3"), 0, "3 another letter", ""},
	} {
		r := openRemembering(t, "decides_by", Args{}, tt.nodes...)
		state, p := framework.NewCycleState(), about("web", "x")
		r.cycle(t, about("before", "x"))
		result, status := r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
		if status.Message() != tt.rejected || (tt.rejected != "") != (status.Code() == fwk.UnschedulableAndUnresolvable) {
			t.Errorf("PreFilter: %v, want %q", status, tt.rejected)
		}
		if result.AllNodes() != (tt.named == 0) || tt.named > 0 && result.NodeNames.Len() != tt.named {
			t.Errorf("named %v, want %d", result, tt.named)
		}
		_, status = r.Plugin.(fwk.PostFilterPlugin).PostFilter(t.Context(), state, p, framework.NewDefaultNodeToStatus())
		testkit.Equal(t, said(status), "Unschedulable: "+tt.postFilter, "PostFilter")
	}
}

func TestScoresAreRemembered(t *testing.T) {
	r := openRemembering(t, "decides_by_zone", Args{}, inZone("a", "east"), inZone("b", "west"))
	state := framework.NewCycleState()
	p := pod("web")
	_, status := r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
	testkit.Succeeds(t, status)
	before := r.asked(t)
	for range 3 {
		for i, want := range []int64{10, 7} {
			testkit.Equal(t, score(t, r.Plugin, state, p, r.Nodes[i]), want, "node %d", i)
		}
	}
	testkit.Equal(t, r.asked(t)-before, 2, "questions about two zones")
}

// What PreScore answers is remembered of a guest that cannot ask which nodes passed, and
// Score sees what PreScore has set, in whatever instance it is asked.
func TestPreScoreIsRemembered(t *testing.T) {
	r := openRemembering(t, "decides_by_prescore", Args{}, nodesNamed("n1", "n2")...)
	preScore := func(p *v1.Pod) (fwk.CycleState, *fwk.Status) {
		state := framework.NewCycleState()
		r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
		return state, r.Plugin.(fwk.PreScorePlugin).PreScore(t.Context(), state, p, r.Nodes)
	}
	before := r.asked(t)
	for i := range 3 {
		_, status := preScore(about(fmt.Sprint("web-", i), "skip"))
		testkit.Equal(t, said(status), "Skip: ", "PreScore")
	}
	testkit.Equal(t, r.asked(t)-before, 1, "questions about pods alike")
	_, status := preScore(about("web", "x"))
	testkit.Succeeds(t, status)
	// The next pod alike is asked about nothing, until a score is not known.
	again := about("again", "x")
	state, status := preScore(again)
	testkit.Succeeds(t, status)
	testkit.Equal(t, r.asked(t)-before, 2, "questions about pods of two kinds")
	if score(t, r.Plugin, state, again, r.Nodes[0]) == 0 {
		t.Error("PreScore was not called before")
	}
}

func TestAnswerThatDoesNotLastIsNotRemembered(t *testing.T) {
	for _, tt := range []struct {
		hook abi.Hook
		v    abi.Verdict
		want bool
	}{
		{abi.Filter, abi.Verdict{Code: int32(fwk.Success)}, true},
		{abi.Filter, abi.Verdict{Code: int32(fwk.Unschedulable), Reasons: []string{"no"}}, true},
		{abi.Filter, abi.Verdict{Code: int32(fwk.UnschedulableAndUnresolvable), Reasons: []string{"no"}}, true},
		{abi.Filter, abi.Verdict{Code: int32(fwk.UnschedulableAndUnresolvable), Reasons: []string{abi.OutOfReasons}}, false},
		{abi.Filter, abi.Verdict{Code: int32(fwk.Error)}, false},
		{abi.Filter, abi.Verdict{Code: int32(fwk.Pending)}, false},
		{abi.Filter, abi.Verdict{Code: int32(fwk.Wait)}, false},
		{abi.Filter, abi.Verdict{Code: int32(fwk.Skip)}, false},
		{abi.PreFilter, abi.Verdict{Code: int32(fwk.Skip)}, true},
		{abi.Filter, abi.Verdict{Code: 99}, false},
	} {
		testkit.Equal(t, mayRemember(tt.hook, tt.v), tt.want, "%v, %v", tt.hook, tt.v)
	}
}

func TestRememberedAnswersAreBounded(t *testing.T) {
	const limit = 256 << 10
	r := openRemembering(t, "decides_by", Args{AnswersLimit: quantity(limit)}, numbered("n", 500)...)
	for i := range 2000 {
		r.cycle(t, about("web", fmt.Sprint(i)))
		if bytes := gauge(t, rememberedBytes); bytes > limit {
			t.Fatalf("%d bytes after %d pods", bytes, i+1)
		}
	}
	before := r.asked(t)
	r.cycle(t, about("web", "1999"))
	testkit.Equal(t, r.asked(t)-before, 0, "questions about the pattern of the last pod")
}

func TestAnswersAreAskedForByManyAtOnce(t *testing.T) {
	r := openRemembering(t, "decides_by", Args{}, numbered("nm", 200)...)
	for round := range 20 {
		state := framework.NewCycleState()
		p := about("web", fmt.Sprint(round/2))
		result, _ := r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for i := worker; i < len(r.Nodes); i += 2 {
					node := r.Nodes[i]
					want := strings.HasPrefix(node.Node().Name, "n")
					status := r.Plugin.(fwk.FilterPlugin).Filter(context.Background(), state, p, node)
					testkit.Equal(t, status.IsSuccess(), want, "%s: %v", node.Node().Name, status)
					if !result.AllNodes() && result.NodeNames.Has(node.Node().Name) != want {
						t.Errorf("%s: named: %v", node.Node().Name, !want)
					}
				}
			})
		}
		all.Wait()
	}
}

// What is counted is what is taken: a limit that counts too little is none.
func TestThousandPatternsOnManyNodesAreRememberedIn64MiB(t *testing.T) {
	testkit.OnOneMinor(t)
	const patterns, nodes, limit = 1000, 5000, 64 << 20
	r := openRemembering(t, "decides_by", Args{}, numbered("nmmm", nodes)...)
	before := testkit.HeapInUse()
	for i := range patterns {
		var result *fwk.PreFilterResult
		var status *fwk.Status
		for range nodes { // in the first cycle, unless the machine is busy
			result, status = r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), framework.NewCycleState(), about("web", fmt.Sprint(i)), r.Nodes)
			if result != nil {
				break
			}
		}
		if status != nil || len(result.NodeNames) != nodes/4 {
			t.Fatalf("pattern %d: %v, %v", i, result, status)
		}
	}
	taken := testkit.HeapInUse() - before
	entries, counted := gauge(t, rememberedPods), gauge(t, rememberedBytes)
	t.Logf("%d entries take %d bytes, of which %d are counted", entries, taken, counted)
	if entries != patterns || counted > limit {
		t.Errorf("at most %d bytes are allowed", limit)
	}
	ratio := float64(counted) / float64(taken)
	if ratio < 0.9 || ratio > 1.1 {
		t.Errorf("%.2f of what is taken is counted", ratio)
	}
	runtime.KeepAlive(r)
}

// A kubelet renews its node's status all the time. The scheduler then has another Node in
// the same NodeInfo.
func TestNodeThatIsRenewedIsFoundAtOnceAndTheOldOneIsNotKept(t *testing.T) {
	for _, guest := range []string{"decides_by", "decides_by_zone"} {
		t.Run(guest, func(t *testing.T) {
			r := openRemembering(t, guest, Args{}, inZone("n1", "west"), inZone("m1", "east"))
			passing, _, _ := r.cycle(t, about("web", "x"))
			asked := r.asked(t)
			var old []weak.Pointer[v1.Node]
			for _, info := range r.Nodes {
				old = append(old, weak.Make(info.Node()))
				info.(*framework.NodeInfo).SetNode(info.Node().DeepCopy())
			}
			again, _, _ := r.cycle(t, about("web", "x"))
			if again != passing || passing != "n1" || r.asked(t) != asked {
				t.Errorf("passing %q, and then %q; asked %d times, and then %d", passing, again, asked, r.asked(t))
			}
			for deadline := time.Now().Add(time.Minute); ; runtime.GC() {
				kept := 0
				for _, node := range old {
					if node.Value() != nil {
						kept++
					}
				}
				if kept == 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d old nodes are still there after a minute", kept)
				}
			}
		})
	}
}
