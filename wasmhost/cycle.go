package wasmhost

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/tracing"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/memory"
)

// attempt is an attempt to schedule a pod: its scheduling cycle and its binding cycle.
type attempt struct {
	plugin  *plugin
	pod     *v1.Pod
	account abi.Account
	// measured is true where the framework measures plugins.
	measured bool
	failed   atomic.Pointer[error] // what all further calls return after one that failed
	time     callTime
	binding  atomic.Bool // the scheduling cycle is over
	trace    *tracing.Attempt

	// known is what is remembered about pods like this one. It is nil for a guest of which
	// nothing is remembered.
	known *memory.About
	// excluded says why nodes were not named to the scheduler, where some were.
	excluded string
	// rejected is set where PreFilter has rejected the pod for all nodes.
	rejected bool
	// ahead is set where the guest is asked before the scheduler does. What fails there is no
	// part of an attempt.
	ahead bool

	once      sync.Once // encodes the pod, for all instances that ask for it
	encoded   []byte
	encodeErr error
}

// Marshal implements abi.Message. It encodes what the guest may see of the pod.
func (a *attempt) Marshal() ([]byte, error) {
	a.once.Do(func() {
		pod := a.pod
		if a.plugin.answers != nil {
			pod = &v1.Pod{ObjectMeta: declaredMeta(a.plugin.decidesBy.Pod, &pod.ObjectMeta)}
		}
		a.encoded, a.encodeErr = pod.Marshal()
	})
	return a.encoded, a.encodeErr
}

// cycle is what the plugin keeps in a CycleState: the attempt, and which calls have left
// something in the guest's memory. A cloned CycleState has a history of its own.
type cycle struct {
	*attempt
	state   fwk.CycleState // nil in a clone
	history []*step
}

// step is a call that is repeated for an instance that has not seen it: PreFilter, AddPod,
// RemovePod, PreScore.
type step struct {
	hook abi.Hook
	in   abi.In
}

// afterPreFilter is the history of a guest that exports PreFilter, at the beginning.
var afterPreFilter = []*step{{hook: abi.PreFilter}}

func (c *cycle) Clone() fwk.StateData { return &cycle{attempt: c.attempt, history: c.history} }

// Excluded implements naming.Excluder.
func (c *cycle) Excluded() string { return c.excluded }

// ask calls a hook whose answers are not remembered.
func (c *cycle) ask(hook abi.Hook, in abi.In) (abi.Out, *fwk.Status) {
	out, err := c.call(hook, in)
	return out, c.status(hook, out.Verdict, err)
}

// askAbout is what Filter or Score answers about a node: it is remembered, or the guest is asked.
func (c *cycle) askAbout(hook abi.Hook, node fwk.NodeInfo) (abi.Verdict, *fwk.Status) {
	var number memory.Node
	remembers := c.known != nil && c.plugin.guest.Active.Has(hook)
	if remembers {
		number = c.known.Number(node)
		v, ok := c.known.Get(hook, number)
		if ok {
			c.recalled()
			return v, statusOf(hook, v)
		}
	}
	out, err := c.call(hook, onNode(node.Node()))
	if err == nil && remembers {
		c.plugin.metrics.asked.Inc()
		if worthKeeping(hook, out.Verdict) {
			c.known.Put(hook, number, out.Verdict)
		}
	}
	return out.Verdict, c.status(hook, out.Verdict, err)
}

// recalled counts an answer that was remembered.
func (c *cycle) recalled() {
	c.plugin.metrics.recalled.Add(1)
	c.trace.Remembered()
}

// leaves notes a call that leaves something in the guest's memory, before it is made.
func (c *cycle) leaves(hook abi.Hook, in abi.In) {
	if c.plugin.guest.Active.Has(hook) {
		c.history = append(slices.Clip(c.history), &step{hook, in})
	}
}

// call calls a hook of the guest: every call in a cycle comes here. in has what the guest may
// ask beside the pod. The hook of a step is called when the step is the last of the history.
//
// An error ends the guest's part in the attempt: all further calls return it.
func (c *cycle) call(hook abi.Hook, in abi.In) (out abi.Out, err error) {
	p := c.plugin
	if !p.guest.Active.Has(hook) {
		return abi.Out{Verdict: p.guest.Constants[hook]}, nil
	}
	past := c.history
	switch hook {
	case abi.PreFilter, abi.AddPod, abi.RemovePod, abi.PreScore:
		past = past[:len(past)-1]
	}
	s := p.pool.acquire()
	defer p.pool.release(s)
	if err = c.prepare(s, past); err == nil {
		out, err = c.run(s, hook, in)
	}
	if err != nil {
		c.fail(err) // before a call that waits for the slot has it
		return abi.Out{}, err
	}
	s.instance.history = c.history
	return out, nil
}

// cycleWithin is how many times as long as one call all calls of a scheduling cycle may
// take.
const cycleWithin = 10

// mayCall returns an error where a guest is not to be called any more in an attempt.
func (c *cycle) mayCall() error {
	if err := c.failed.Load(); err != nil {
		return *err
	}
	if c.time.exceeds(cycleWithin) && !c.binding.Load() {
		return fmt.Errorf("wasm: all calls of one scheduling cycle took longer than ten times callTimeout, %s", c.plugin.args.callTimeout())
	}
	return nil
}

// prepare provides an acquired slot with an instance that has seen the past. It drops what
// the guest answers, logs and sends meanwhile: that was taken where the call was made first.
func (c *cycle) prepare(s *slot, past []*step) error {
	if err := c.mayCall(); err != nil { // perhaps no more, while this call waited
		return err
	}
	if err := s.provide(c.plugin.ctx); err != nil {
		return err
	}
	i := s.instance
	seen := len(i.history)
	if i.attempt != c.attempt || seen > len(past) || !slices.Equal(i.history, past[:seen]) {
		i.attempt = c.attempt
		i.history = nil // PreFilter makes the guest forget the rest
		seen = 0
	}
	for _, step := range past[seen:] {
		i.Quiet = true
		_, err := c.run(s, step.hook, step.in)
		i.Quiet = false
		if err != nil {
			return err
		}
	}
	i.history = past
	return nil
}

// run calls a hook of the instance in a prepared slot. The slot is without an instance after
// an error.
func (c *cycle) run(s *slot, hook abi.Hook, in abi.In) (abi.Out, error) {
	if c.trace != nil {
		defer c.trace.Call(c.plugin.name, hook.String())()
	}
	i, watchdog := s.instance, &c.plugin.pool.watchdog
	c.show(&in, i)
	i.In = in
	var began time.Time
	if c.measured {
		began = time.Now()
	}
	before := watchdog.looks.Load()
	out, err := i.Call(hook)
	c.time.add(before, watchdog.looks.Load())
	if c.measured {
		code := fwk.Error
		if err == nil {
			code = statusOf(hook, out.Verdict).Code()
		}
		callSeconds.WithLabelValues(c.plugin.name, hook.String(), code.String()).Observe(time.Since(began).Seconds())
	}
	i.In = abi.In{} // so that it keeps no node alive
	i.shown.node = nil
	if err != nil {
		s.drop()
		traps.WithLabelValues(c.plugin.name).Inc()
		klog.FromContext(c.plugin.ctx).Error(err, "Wasm guest trapped: another takes its place", "plugin", c.plugin.name, "guest", c.plugin.url,
			"pod", klog.KObj(c.pod), "export", hook.String())
		return abi.Out{}, err
	}
	s.pool.countMemory(i)
	return *out, nil
}

// fail notes that a call has failed, and under FailurePolicyIgnore that the attempt goes on
// without the guest.
func (c *cycle) fail(err error) {
	if !c.failed.CompareAndSwap(nil, &err) || c.plugin.args.FailurePolicy != FailurePolicyIgnore || c.ahead {
		return
	}
	skipped.WithLabelValues(c.plugin.name).Inc()
	klog.FromContext(c.plugin.ctx).Error(err, "Wasm guest failed: the pod is scheduled without it", "plugin", c.plugin.name, "guest", c.plugin.url, "pod", klog.KObj(c.pod))
}

// callTime is how long all calls of a cycle took: how often the watchdog looked meanwhile. To
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
	before = max(before, t.until)
	if before < after {
		t.looks.Add(after - before)
		t.until = after
	}
}

// exceeds reports whether the calls took longer than so many may.
func (t *callTime) exceeds(calls int64) bool { return t.looks.Load() >= calls*looksEach }
