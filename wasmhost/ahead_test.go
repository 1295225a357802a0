package wasmhost

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// Another plugin has excluded the node on which the guest traps.
func TestTrapOnANodeThatIsAskedAheadIsNoPartOfTheAttempt(t *testing.T) {
	for _, policy := range []FailurePolicy{FailurePolicyFail, FailurePolicyIgnore} {
		t.Run(string(policy), func(t *testing.T) {
			traps.Reset()
			skipped.Reset()
			r := openRemembering(t, "decides_by_bad_node", Args{FailurePolicy: policy}, nodesNamed("good", "bad", "m1")...)
			for attempt := range 4 {
				state, p := framework.NewCycleState(), about("web", "x")
				result, status := r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
				testkit.Succeeds(t, status)
				testkit.Equal(t, result.AllNodes(), true, "attempt %d: PreFilter: %v", attempt, result)
				for i, want := range map[int]fwk.Code{0: fwk.Success, 2: fwk.Unschedulable} {
					status := r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, p, r.Nodes[i])
					testkit.Equal(t, status.Code(), want, "attempt %d: Filter on %s: %v", attempt, r.Nodes[i].Node().Name, status)
				}
			}
			testkit.Equal(t, counted(t, traps), 1, "traps")
			testkit.Equal(t, counted(t, skipped), 0, "attempts without the guest")
			r.Handle = snapshot.Of(nodesNamed("good", "m1")...)
			passing, named, _ := r.cycle(t, about("web", "x"))
			testkit.Equal(t, passing, "good", "passing, without the node")
			testkit.Equal(t, named, true, "named, without the node")
		})
	}
}

// What a guest allocates when it is asked ahead, it has again when Filter asks.
func TestGuestForgetsWhatItWasAskedAhead(t *testing.T) {
	for _, policy := range []FailurePolicy{FailurePolicyFail, FailurePolicyIgnore} {
		r := openRemembering(t, "decides_by_few", Args{FailurePolicy: policy, Instances: 1}, nodesNamed("n1", "n2", "n3")...)
		for pods := range 2 {
			state, p := framework.NewCycleState(), about("web", "x")
			r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
			for i := range 2 {
				status := r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, p, node(fmt.Sprint("new-", pods, i)))
				testkit.Equal(t, status.Code(), fwk.Unschedulable, "%s: pod %d: %v", policy, pods, status)
			}
		}
	}
}

// Filter comes to 500 of 5,000 nodes. Of a guest that declares what each pod has of its own, what else is
// asked is of no use to another pod.
func TestNothingIsAskedAheadForAPodThatIsLikeNoOther(t *testing.T) {
	r := openRemembering(t, "decides_by", Args{}, numbered("nmmm", 5000)...)
	attempt := func(value string) (asked int, named bool) {
		before := r.asked(t)
		state, p := framework.NewCycleState(), about(value, value)
		result, _ := r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
		for _, node := range r.Nodes[:500] {
			r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, p, node)
		}
		return r.asked(t) - before, !result.AllNodes()
	}
	for i := range 20 {
		asked, _ := attempt(fmt.Sprint("job-", i))
		testkit.Equal(t, asked, 500, "questions about pod %d", i)
	}
	asked, named := attempt("job-0")
	for ; !named && asked > 0; asked, named = attempt("job-0") { // a busy machine
	}
	if !named {
		t.Error("a pod like one before: no nodes are named")
	}
}

// Where a pod has more different verdicts than are kept, what PreFilter asks ahead must not be asked in each attempt.
func TestGuestIsNotAskedAgainAndAgainForWhatIsNotKept(t *testing.T) {
	r := openRemembering(t, "decides_by", Args{}, numbered("n", 1<<16)...)
	p := about("web", "x")
	full := r.guest.answers.Of(p, r.Nodes)
	for i, node := range r.Nodes {
		full.Answer(abi.Score, node).Put(&abi.Out{Verdict: abi.Verdict{Number: int32(i + 1)}})
	}
	for attempt, want := range []int{1, 0, 0} { // one is asked to find it out
		before := r.asked(t)
		r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), framework.NewCycleState(), p, r.Nodes)
		testkit.Equal(t, r.asked(t)-before, want, "questions of attempt %d", attempt)
	}
}

// What is remembered is no call; what is asked ahead is one.
func TestCallsAreMeasuredWhereTheGuestIsCalled(t *testing.T) {
	callSeconds.Reset()
	r := openRemembering(t, "decides_by", Args{}, nodesNamed("n1", "m1", "m2", "m3", "n2")...)
	for _, tt := range []struct {
		nodes             []*v1.Node
		calls, remembered int
	}{
		{nodesNamed("n1", "m1", "m2", "m3", "n2"), 5, 0},
		{nodesNamed("n1", "m1", "m2", "m3", "n2"), 5, 2},
		{nodesNamed("n1", "m1", "m2", "m3", "n2", "m4"), 6, 4}, // PreFilter asks about the sixth
	} {
		r.Handle = snapshot.Of(tt.nodes...)
		state, p := framework.NewCycleState(), about("web", "x")
		state.SetRecordPluginMetrics(true)
		result, _ := r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
		for _, node := range r.Nodes {
			if result.AllNodes() || result.NodeNames.Has(node.Node().Name) {
				r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, p, node)
			}
		}
		r.guest.metrics.flush()
		calls := 0
		for series, text := range gathered(t) {
			if strings.HasPrefix(series, "scheduler_wasm_call_duration_seconds_count") && strings.Contains(series, t.Name()) {
				n, err := strconv.Atoi(text)
				testkit.Must(t, err)
				calls += n
			}
		}
		testkit.Equal(t, calls, tt.calls, "calls")
		testkit.Equal(t, counted(t, answersTotal, "remembered"), tt.remembered, "remembered answers")
	}
}

// slow opens decides_by_slow, which calls a function for each verdict.
func slow(t *testing.T, args Args, call func(), nodes ...*v1.Node) *remembering {
	r := openRemembering(t, "decides_by_slow", args, nodes...)
	s := r.guest.pool.acquire()
	defer r.guest.pool.release(s)
	s.drop() // an instance has the settings of its start
	r.guest.pool.settings.Log = func(int32, string, []string) { call() }
	return r
}

// In place of the time, the test lets the watchdog look, once in each call.
func TestCallsOfACycleAreBounded(t *testing.T) {
	var r *remembering
	calls := 0
	r = slow(t, Args{CallTimeout: NoCallTimeout}, func() { calls++; r.guest.pool.watchdog.look(time.Hour) },
		nodesNamed("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9")...)
	state, p := framework.NewCycleState(), about("web", "x")
	r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), framework.NewCycleState(), p, r.Nodes)
	_, status := r.Plugin.(fwk.PreFilterPlugin).PreFilter(t.Context(), state, p, r.Nodes)
	if !status.IsSuccess() || calls != looksEach { // nodes that it asks about ahead
		t.Errorf("PreFilter: %v, after %d calls", status, calls)
	}
	calls = 0
	for status.IsSuccess() && calls < 100 {
		status = r.Plugin.(fwk.FilterPlugin).Filter(t.Context(), state, p, node(fmt.Sprint("n-", calls)))
	}
	testkit.Equal(t, calls, cycleWithin*looksEach, "calls of the cycle")
	testkit.Equal(t, status.Code(), fwk.Error, "at the end: %v", status)
}
