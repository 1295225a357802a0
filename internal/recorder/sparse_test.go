package recorder

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// fitOrNot is choose for pods that no node fits whose names begin with "unfit": with the
// scheduler's own error.
func fitOrNot(ctx context.Context, fwk schedframework.Framework, state framework.CycleState, queued *hooks.Queued) (scheduler.ScheduleResult, error) {
	pod := hooks.PodOf(queued)
	if !strings.HasPrefix(pod.Name, "unfit") {
		result, err := choose(ctx, fwk, state, queued)
		result.EvaluatedNodes = 7
		return result, err
	}
	fwk.RunPreFilterPlugins(ctx, state, pod)
	of := schedframework.NewDefaultNodeToStatus()
	for _, node := range nodesOf(fwk) {
		status := fwk.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
		if status.IsSuccess() {
			status = framework.NewStatus(framework.Unschedulable, "Insufficient cpu").WithPlugin("Plugin7")
		}
		of.Set(node.Node().Name, status)
	}
	return scheduler.ScheduleResult{}, &schedframework.FitError{Pod: pod, NumAllNodes: of.Len(), Diagnosis: schedframework.Diagnosis{NodeToStatus: of}}
}

func sparseOver(t *testing.T, nodes int) (*Recorder, *scheduler.Scheduler) {
	r, sched := NewSparse(64<<20), newRealScheduler(t, nodes)
	sched.SchedulePod = fitOrNot
	t.Cleanup(r.Attach(sched, asTyped))
	return r, sched
}

func TestSparseRecorderKeepsWhyNoNodeFits(t *testing.T) {
	r, sched := sparseOver(t, 100)
	one(t.Context(), sched, newPod("unfit"))
	a := r.Attempts("ns", "unfit")[0]
	if len(a.Groups) != 2 || a.Total != 100 || a.Evaluated != 100 || a.Columns[4].Failed != 50 || a.Columns[7].Failed != 50 {
		t.Fatalf("got %+v", a)
	}
	if a.Groups[0].Reason != rejected.Message() || a.Groups[0].Nodes()[0] != "node-00001" || a.PreFilter[1].Verdict != Skipped || a.PreFilter[0].Verdict != Passed {
		t.Errorf("got %+v", a)
	}
}

func TestSparseRecorderKeepsTheBestScores(t *testing.T) {
	r, sched := sparseOver(t, 100)
	testkit.Must(t, place(t.Context(), sched, newPod("p")))
	a := r.Attempts("ns", "p")[0]
	scores := a.Scores()
	if a.Result != Scheduled || len(a.Groups) != 0 || a.Evaluated != 7 || a.Total != 100 || len(scores) != bestScores {
		t.Fatalf("%d scores, %+v", len(scores), a)
	}
	for _, s := range scores { // the score falls with the last digit, and odd nodes are rejected
		if !strings.HasSuffix(s.Node, "0") || s.Total != scores[0].Total {
			t.Errorf("got %+v", scores)
		}
	}
}

func TestPodsThatAreAlikeShareAnAttempt(t *testing.T) {
	r, sched := sparseOver(t, 1000)
	one(t.Context(), sched, newPod("unfit-1"))
	_, first := r.Dropped()
	one(t.Context(), sched, newPod("unfit-2"))
	_, both := r.Dropped()
	testkit.Equal(t, both-first, baseBytes, "bytes of the second; the first takes %d", first)
	a, b := r.Attempts("ns", "unfit-1")[0], r.Attempts("ns", "unfit-2")[0]
	if !slices.EqualFunc(a.Nodes(), b.Nodes(), func(a, b NodeVerdict) bool { return a == b }) || len(a.Nodes()) != 1000 {
		t.Errorf("they differ: %+v, %+v", a, b)
	}
}

func TestNamesOfNodesThatAreGoneAreForgotten(t *testing.T) {
	var n nodes
	for i := range 50 {
		list := make([]framework.NodeInfo, 100)
		for j := range list {
			info := schedframework.NewNodeInfo()
			info.SetNode(&v1.Node{})
			info.Node().Name = fmt.Sprint(i, "-", j)
			list[j] = info
		}
		n.trim()
		n.follow(list)
		if len(n.names) > 1400 || n.names[n.places[99]] != fmt.Sprint(i, "-", 99) {
			t.Fatalf("after %d lists of 100 nodes, %d names are kept; the last is %s", i+1, len(n.names), n.names[n.places[99]])
		}
	}
}

// TestTensOfThousandsOfPodsStayWithinTheBound has 5,000 nodes and verdicts that differ from pod to pod.
func TestTensOfThousandsOfPodsStayWithinTheBound(t *testing.T) {
	const bound, pods, pending = 64 << 20, 30_000, 2000
	names := newTestNodes(5000)
	places := make([]int32, len(names))
	for i := range places {
		places[i] = int32(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var kinds [][]Group
	for range 50 {
		verdicts := make([]nodeVerdict, len(names))
		for i := range verdicts {
			verdicts[i] = nodeVerdict{Rejected, 0, fmt.Sprint("reason ", random.IntN(4)), ""}
		}
		kinds = append(kinds, groupNodes(names, places, verdicts))
	}
	before := testkit.HeapInUse()
	r := NewSparse(bound)
	own := *testProfile
	for i := range pods {
		name := fmt.Sprint("pod-", i)
		rec := &record{Attempt: Attempt{Namespace: "ns", Name: name, UID: name, Result: Pending}, profile: &own, verdicts: own.verdicts.clone()}
		r.add(rec)
		var groups []Group
		for _, g := range kinds[i%len(kinds)] {
			g.Places = slices.Clone(g.Places)
			groups = append(groups, g)
		}
		r.update(func() {
			r.keep(rec, groups, nil)
			rec.Result = Scheduled
			if i < pending {
				rec.Result = Unschedulable
			}
			r.end(rec)
		})
	}
	took := testkit.HeapInUse() - before
	dropped, counted := r.Dropped()
	t.Logf("%d attempts are kept in %d KiB, counted as %d KiB; dropped: %+v", r.last.Len()+r.order.Len(), took>>10, counted>>10, dropped)
	if took > bound*11/10 {
		t.Errorf("they take %d KiB, the bound is %d KiB", took>>10, bound>>10)
	}
	if dropped.OfPending != 0 || dropped.Attempts == 0 || int(dropped.Attempts) != pods-r.last.Len()-r.order.Len() {
		t.Errorf("%d and %d are kept, dropped: %+v", r.last.Len(), r.order.Len(), dropped)
	}
	if len(r.Attempts("ns", "pod-0")) != 1 || len(r.Attempts("ns", fmt.Sprint("pod-", pods-1))) != 1 || len(r.Attempts("ns", fmt.Sprint("pod-", pending))) != 0 {
		t.Error("a pending pod's last attempt, or the newest one, was dropped before the oldest of a placed pod")
	}
	runtime.KeepAlive(r)
}

func TestAttemptsOfPendingPodsAreDroppedLast(t *testing.T) {
	r := NewSparse(10 * baseBytes)
	for i := range 15 {
		r.record(fmt.Sprint(i), nil, halves)
	}
	dropped, _ := r.Dropped()
	testkit.Equal(t, dropped, Dropped{Attempts: 5, OfPending: 5}, "dropped")
	r.Gone("ns", "14") // its attempt is the newest, and goes before all others
	r.record("15", nil, halves)
	dropped, _ = r.Dropped()
	testkit.Equal(t, dropped, Dropped{Attempts: 6, OfPending: 5}, "dropped")
	testkit.Equal(t, len(r.Attempts("ns", "14")), 0, "attempts of the pod that is gone")
	testkit.Equal(t, len(r.Attempts("ns", "5")), 1, "attempts of the oldest pod that is kept")
}
