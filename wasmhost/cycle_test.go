package wasmhost

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
)

// inAnother makes calls in another instance than those outside of it.
func inAnother(p *guest, call func()) {
	s := p.pool.acquire()
	defer p.pool.release(s)
	call()
}

// openTwo starts a guest with two slots, whatever the number of processors is.
func openTwo(t *testing.T, guest string) fwk.Plugin {
	pl := open(t, guest)
	p := inside(pl)
	last := p.pool.free[len(p.pool.free)-1] // it has the instance that was started
	p.pool.free = []*slot{{pool: p.pool}, last}
	p.pool.slots = 2
	return pl
}

func TestClonedStateIsACycleOfItsOwn(t *testing.T) {
	pl := openTwo(t, "remember")
	base, p := framework.NewCycleState(), pod("target")
	preFilter(t.Context(), pl, base, p)
	tell := func(state fwk.CycleState) string {
		here := pl.(fwk.FilterPlugin).Filter(t.Context(), state, p, node("n")).Message()
		inAnother(inside(pl), func() {
			testkit.Equal(t, pl.(fwk.FilterPlugin).Filter(t.Context(), state, p, node("n")).Message(), here, "the other instance")
		})
		return here
	}
	extensions := pl.(fwk.PreFilterPlugin).PreFilterExtensions()
	add := func(state fwk.CycleState, other string) {
		testkit.Succeeds(t, extensions.AddPod(t.Context(), state, p, snapshot.PodInfo(pod(other)), node("n")))
	}
	remove := func(state fwk.CycleState, other string) {
		testkit.Succeeds(t, extensions.RemovePod(t.Context(), state, p, snapshot.PodInfo(pod(other)), node("n")))
	}
	one, two := base.Clone(), base.Clone()
	remove(one, "x")
	add(two, "y")
	add(one, "z")
	three := one.Clone()
	remove(three, "w")
	for name, tt := range map[string]struct {
		state fwk.CycleState
		want  string
	}{
		"what was cloned": {base, "target"}, "one clone": {one, "target-x+z"},
		"another": {two, "target+y"}, "a clone of a clone": {three, "target-x+z-w"},
	} {
		testkit.Equal(t, tell(tt.state), tt.want, "%s", name)
	}
}

// To score a node again for the next pod of a batch (KEP-5598), the scheduler calls PreScore
// in a clone of the pod's state, about other nodes than in the state itself.
func TestClonedStateHasAPreScoreOfItsOwn(t *testing.T) {
	pl := openTwo(t, "remember_score")
	state, p := framework.NewCycleState(), pod("web")
	preFilter(t.Context(), pl, state, p)
	clone := state.Clone()
	preScore := func(state fwk.CycleState, nodes ...fwk.NodeInfo) {
		status := pl.(fwk.PreScorePlugin).PreScore(t.Context(), state, p, nodes)
		testkit.Succeeds(t, status)
	}
	expect := func(in string, state fwk.CycleState, passed string) {
		testkit.Equal(t, score(t, pl, state, p, node("a")), int64(len(passed)), "%s: the length of %s", in, passed)
	}
	preScore(clone, node("a"))
	expect("the clone", clone, `["a"]`)
	inAnother(inside(pl), func() {
		preScore(state, node("a"), node("b"))
		expect("the state, where its PreScore was called", state, `["a","b"]`)
	})
	expect("the state, where only the clone's was", state, `["a","b"]`)
	expect("the clone, later", clone, `["a"]`)
}

// The scheduler renews its nodes while a pod is bound, for which PreScore may be repeated.
func TestPreScoreIsRepeatedWithTheNodesThatItHad(t *testing.T) {
	pl := openTwo(t, "remember_score")
	state, p, passed := framework.NewCycleState(), pod("web"), node("a")
	preFilter(t.Context(), pl, state, p)
	inAnother(inside(pl), func() { pl.(fwk.PreScorePlugin).PreScore(t.Context(), state, p, []fwk.NodeInfo{passed}) })
	passed.(*framework.NodeInfo).SetNode(node("renewed").Node())
	testkit.Equal(t, score(t, pl, state, p, node("a")), int64(len(`["a"]`)), "the length")
}

// Sixteen goroutines ask of one cycle after another, as the scheduler does.
func TestCallIsOfItsOwnCycle(t *testing.T) {
	pl := open(t, "remember").(fwk.FilterPlugin)
	for i := range 200 {
		state, p := framework.NewCycleState(), pod(fmt.Sprintf("p%05d", i))
		preFilter(t.Context(), pl, state, p)
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				for range 5 {
					testkit.Equal(t, pl.Filter(t.Context(), state, p, node("n")).Message(), p.Name, "the guest sees")
				}
			})
		}
		group.Wait()
	}
}

func TestCycleGoesOnWhileAnotherTraps(t *testing.T) {
	pl := open(t, "trap_filter").(fwk.FilterPlugin)
	mine, other := framework.NewCycleState(), framework.NewCycleState()
	preFilter(t.Context(), pl, mine, pod("mine"))
	preFilter(t.Context(), pl, other, pod("other"))
	status := pl.Filter(t.Context(), other, pod("other"), node("trap"))
	testkit.Equal(t, status.Code(), fwk.Error, "the other one: %v", status)
	testkit.Succeeds(t, pl.Filter(t.Context(), mine, pod("mine"), node("a")))
}

// An importer that calls plugins itself learns by errors.Is what was wrong.
func TestErrorsOfAGuestHaveACause(t *testing.T) {
	causes := []error{ErrClosed, ErrTimeout, ErrTrap}
	closed := open(t, "trap_filter")
	for range 2 {
		testkit.Must(t, closed.(io.Closer).Close())
	}
	h := New(fromFiles)
	testkit.Must(t, h.Close())
	_, hostClosed := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURLOf("trap_filter")})
	for _, tt := range []struct{ err, want error }{
		{schedule(t.Context(), closed, pod("p"), "a")[0].AsError(), ErrClosed},
		{hostClosed, ErrClosed},
		{schedule(t.Context(), openWith(t, "endless", Args{CallTimeout: soon}, nil), pod("p"), "endless")[0].AsError(), ErrTimeout},
		{startError(t, Args{GuestURL: fileURLOf("endless_hook"), GuestConfig: "e", CallTimeout: soon}), ErrTimeout},
		{schedule(t.Context(), open(t, "trap_filter"), pod("p"), "trap")[0].AsError(), ErrTrap},
		{startError(t, Args{GuestURL: fileURLOf("start_exit")}), ErrTrap},
	} {
		for _, cause := range causes {
			testkit.Equal(t, errors.Is(tt.err, cause), (cause == tt.want), "%v: is it %q?", tt.err, cause)
		}
	}
}

func TestGuestThatTakesPartInBindingIsReplacedToo(t *testing.T) {
	pl := open(t, "filter_permit")
	schedule(t.Context(), pl, pod("unlucky"), "a", "trap")
	testkit.Succeeds(t, schedule(t.Context(), pl, pod("after"), "b")[0])
}

// The calls of a cycle that wait for the one instance do not repeat the trap.
func TestTrapIsTheLastCallOfItsCycle(t *testing.T) {
	pl := openCounted(t, "trap_filter", Args{Instances: 1})
	unlucky, state := pod("unlucky"), framework.NewCycleState()
	preFilter(t.Context(), pl, state, unlucky)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			status := pl.(fwk.FilterPlugin).Filter(t.Context(), state, unlucky, node("trap"))
			testkit.Equal(t, status.Code(), fwk.Error, "the code: %v", status)
		})
	}
	group.Wait()
	testkit.Equal(t, counted(t, traps), 1, "traps")
}

func TestGuestThatFailsIsSkippedWhereItsArgsSaySo(t *testing.T) {
	pl := openCounted(t, "trap_filter", Args{FailurePolicy: FailurePolicyIgnore})
	for range 2 { // a new instance takes part in the next pod's cycle
		for _, status := range schedule(t.Context(), pl, pod("unlucky"), "a", "trap", "b") {
			testkit.Succeeds(t, status)
		}
	}
	testkit.Equal(t, counted(t, skipped), 2, "attempts in which it is skipped")
}
