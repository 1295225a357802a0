package wasmhost

import (
	"slices"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// pass is one pod's way through the scheduler: what all instances must agree on.
type pass struct {
	pod     *v1.Pod
	message podMessage
	account abi.Account
	trapped atomic.Pointer[trapped] // nil while all is well
	binding atomic.Bool             // the scheduling cycle is over
	// scored is nil until PreScore has been called, and then holds its nodes.
	scored atomic.Pointer[[]fwk.NodeInfo]

	// answers are what is remembered about pods like this one, by the nodes of a
	// table. Nil is of a guest of which nothing is.
	answers *podAnswers
	nodes   *nodeTable
	// leftOut says why nodes were not named to the scheduler, where some were.
	leftOut string
	// turnedDown is true of a pod that PreFilter has turned down for all nodes.
	turnedDown bool
	// apart is what a guest may ask that is asked outside of a scheduling cycle.
	apart abi.Scheduler
}

// trapped is what a pass ends with whose guest trapped: all its further calls
// get the same error.
type trapped struct{ err error }

// failed is that error, or nil.
func (p *pass) failed() error {
	if t := p.trapped.Load(); t != nil {
		return t.err
	}
	return nil
}

// cycle is what the plugin keeps in a CycleState: a pass, and the pods that were
// added to nodes or removed from them to try something out. A cloned CycleState
// has a cycle of its own, in which other pods come and go.
type cycle struct {
	*pass
	changes []*change
}

// change is a pod added or removed.
type change struct {
	hook   abi.Hook
	target *v1.Pod
	node   string
}

// Clone implements fwk.StateData.
func (c *cycle) Clone() fwk.StateData {
	return &cycle{pass: c.pass, changes: slices.Clip(c.changes)}
}

// seen is what an instance has seen.
type seen struct {
	pass     *pass
	changes  []*change
	prescore bool
}

// missing are the changes that a cycle has beyond what was seen. ok is false
// where more was seen than that: changes cannot be taken back.
func (s *seen) missing(c *cycle) (missing []*change, ok bool) {
	if s.pass != c.pass || len(s.changes) > len(c.changes) {
		return nil, false
	}
	for i, change := range s.changes {
		if c.changes[i] != change {
			return nil, false
		}
	}
	return c.changes[len(s.changes):], true
}

// begun is the cycle that was begun last. Nearly every call is for it, and to
// compare is cheaper than to look it up.
type begun struct {
	state fwk.CycleState
	cycle *cycle
}

// begin makes a new cycle, which may be for no state in tests.
func (p *plugin) begin(state fwk.CycleState, pod *v1.Pod) *cycle {
	c := &cycle{pass: &pass{pod: pod}}
	c.message = podMessage{pod, &p.encoder}
	p.last.Store(&begun{state, c})
	return c
}

// LeftOut implements naming.LeftOut.
func (c *cycle) LeftOut() string { return c.leftOut }

// remember leaves a cycle in its state, for when another one has begun.
func (p *plugin) remember(state fwk.CycleState, c *cycle) {
	if state != nil {
		state.Write(p.key, c)
	}
}

// cycleOf finds the cycle of a state, or nil if it has none.
func (p *plugin) cycleOf(state fwk.CycleState, pod *v1.Pod) *cycle {
	if last := p.last.Load(); last != nil && last.state == state && (state != nil || last.cycle.pod == pod) {
		return last.cycle
	}
	if state == nil {
		return nil
	}
	if data, err := state.Read(p.key); err == nil {
		return data.(*cycle)
	}
	return nil
}

// cycleFor finds the cycle of a state. If PreFilter was not called for it, which
// is so where the plugin is enabled at single extension points, it begins here.
func (p *plugin) cycleFor(state fwk.CycleState, pod *v1.Pod) *cycle {
	if c := p.cycleOf(state, pod); c != nil {
		return c
	}
	p.beginning.Lock()
	defer p.beginning.Unlock()
	if c := p.cycleOf(state, pod); c != nil {
		return c // another goroutine has begun it
	}
	c := p.begin(state, pod)
	p.remember(state, c)
	return c
}
