package wasmhost

import (
	"slices"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// pass is one pod's way through the scheduler. All instances share it.
type pass struct {
	plugin  *plugin
	pod     *v1.Pod
	account abi.Account
	// measured is true where the framework measures plugins.
	measured bool
	trapped  atomic.Pointer[error] // what all further calls return after a trap
	time     callTime
	binding  atomic.Bool // the scheduling cycle is over

	// known is what is remembered about pods like this one. It is nil for a guest of which
	// nothing is remembered.
	known *answers.About
	// excluded says why nodes were not named to the scheduler, where some were.
	excluded string
	// rejected is true of a pod that PreFilter has rejected for all nodes.
	rejected bool
	// hint is true of a pass that only finds out whether an event helps the pod.
	hint bool

	once      sync.Once // encodes the pod, for all instances that ask for it
	encoded   []byte
	encodeErr error
}

// Marshal implements abi.Message. It encodes what the guest may see of the pod.
func (p *pass) Marshal() ([]byte, error) {
	p.once.Do(func() {
		pod := p.pod
		if p.plugin.answers != nil {
			pod = &v1.Pod{ObjectMeta: declaredMeta(p.plugin.decidesBy.Pod, &pod.ObjectMeta)}
		}
		p.encoded, p.encodeErr = pod.Marshal()
	})
	return p.encoded, p.encodeErr
}

// callTime is how long all calls of a pass took: how often the watchdog looked meanwhile. To
// take the time of each call is dear.
type callTime struct {
	mu    sync.Mutex
	until int64 // the last look that is counted
	looks atomic.Int64
}

// add counts a call. Looks into several calls at a time count once.
func (t *callTime) add(before, after int64) {
	if before == after {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if before = max(before, t.until); before < after {
		t.looks.Add(after - before)
		t.until = after
	}
}

// exceeds reports whether the calls took longer than so many may.
func (t *callTime) exceeds(calls int64) bool { return t.looks.Load() >= calls*looksEach }

// cycle is what the plugin keeps in a CycleState: a pass, the pods that were added to nodes
// or removed from them to try something out, and what PreScore was about. A cloned
// CycleState has a cycle of its own, with other changes and another PreScore.
type cycle struct {
	*pass
	changes []*change
	// scored is nil until PreScore has been called, and then holds its nodes.
	scored atomic.Pointer[[]fwk.NodeInfo]
}

// change is a pod added or removed.
type change struct {
	hook   abi.Hook
	target *v1.Pod
	node   string
}

func (c *cycle) Clone() fwk.StateData {
	clone := &cycle{pass: c.pass, changes: slices.Clip(c.changes)}
	clone.scored.Store(c.scored.Load())
	return clone
}

// Excluded implements naming.Excluder.
func (c *cycle) Excluded() string { return c.excluded }

// seen is what an instance has seen.
type seen struct {
	pass    *pass
	changes []*change
	scored  *[]fwk.NodeInfo // as the cycle's
}

// missing are the changes that a cycle has beyond what was seen. ok is false
// where more was seen than that: changes and PreScore cannot be taken back.
func (s *seen) missing(c *cycle) (missing []*change, ok bool) {
	n := len(s.changes)
	if s.pass != c.pass || s.otherScored(c) || n > len(c.changes) || !slices.Equal(s.changes, c.changes[:n]) {
		return nil, false
	}
	return c.changes[n:], true
}

// otherScored reports whether PreScore was seen that is not the cycle's.
func (s *seen) otherScored(c *cycle) bool { return s.scored != nil && s.scored != c.scored.Load() }

// begun is the cycle that was begun last. Nearly every call is for it, and to
// compare is cheaper than to look it up.
type begun struct {
	state fwk.CycleState
	cycle *cycle
}

// begin makes a new cycle.
func (p *plugin) begin(state fwk.CycleState, pod *v1.Pod) *cycle {
	c := &cycle{pass: &pass{plugin: p, pod: pod, measured: state.ShouldRecordPluginMetrics()}}
	state.Write(p.key, c)
	p.last.Store(&begun{state, c})
	return c
}

// cycleOf finds the cycle of a state, or nil if it has none.
func (p *plugin) cycleOf(state fwk.CycleState) *cycle {
	if last := p.last.Load(); last != nil && last.state == state {
		return last.cycle
	}
	if data, err := state.Read(p.key); err == nil {
		return data.(*cycle)
	}
	return nil
}

// cycleFor finds the cycle of a state. If PreFilter was not called for it, which
// is so where the plugin is enabled at single extension points, it begins here.
func (p *plugin) cycleFor(state fwk.CycleState, pod *v1.Pod) *cycle {
	if c := p.cycleOf(state); c != nil {
		return c
	}
	p.beginning.Lock()
	defer p.beginning.Unlock()
	if c := p.cycleOf(state); c != nil {
		return c // another goroutine has begun it
	}
	return p.begin(state, pod)
}
