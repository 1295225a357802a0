package wasmhost

import (
	"fmt"
	"sync"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
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
			there := pl.(fwk.FilterPlugin).Filter(t.Context(), state, p, node("n")).Message()
			if there != here {
				t.Errorf("instances disagree: %q and %q", here, there)
			}
		})
		return here
	}
	extensions := pl.(fwk.PreFilterPlugin).PreFilterExtensions()
	add := func(state fwk.CycleState, other string) {
		status := extensions.AddPod(t.Context(), state, p, podInfo(pod(other)), node("n"))
		if !status.IsSuccess() {
			t.Error(status)
		}
	}
	remove := func(state fwk.CycleState, other string) {
		status := extensions.RemovePod(t.Context(), state, p, podInfo(pod(other)), node("n"))
		if !status.IsSuccess() {
			t.Error(status)
		}
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
		got := tell(tt.state)
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
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
		if !status.IsSuccess() {
			t.Fatal(status)
		}
	}
	expect := func(in string, state fwk.CycleState, passed string) {
		score, status := pl.(fwk.ScorePlugin).Score(t.Context(), state, p, node("a"))
		if score != int64(len(passed)) || !status.IsSuccess() {
			t.Errorf("%s: got %d, %v, want the length of %s", in, score, status, passed)
		}
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
	score, status := pl.(fwk.ScorePlugin).Score(t.Context(), state, p, node("a"))
	if score != int64(len(`["a"]`)) || !status.IsSuccess() {
		t.Errorf("got %d, %v, want the length of [\"a\"]", score, status)
	}
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
					got := pl.Filter(t.Context(), state, p, node("n")).Message()
					if got != p.Name {
						t.Errorf("%s sees %q", p.Name, got)
					}
				}
			})
		}
		group.Wait()
	}
}
