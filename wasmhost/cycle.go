package wasmhost

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/tracing"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// attempt is an attempt to schedule a pod: its scheduling cycle and its binding cycle.
type attempt struct {
	guest   *guest
	pod     *v1.Pod
	account abi.Account
	// measured is true where the framework measures plugins.
	measured bool
	failed   atomic.Pointer[error] // what all further calls return after one that failed
	binding  atomic.Bool           // the scheduling cycle is over
	trace    *tracing.Attempt

	// looks is how often the watchdog saw a call of the scheduling cycle: to take the time of each call is dear.
	looks    atomic.Int64
	lastLook int64 // for the watchdog: looks into several calls at a time count once

	// answers has the answers about pods of this kind. It is nil for a guest of which nothing is remembered.
	answers *answers.Kind
	// excluded says why nodes were not named to the scheduler, where some were.
	excluded string
	// rejected is set where PreFilter has rejected the pod for all nodes.
	rejected bool

	once      sync.Once // encodes the pod, for all instances that ask for it
	encoded   []byte
	encodeErr error
}

// Marshal implements abi.Message. It encodes what the guest may see of the pod.
func (a *attempt) Marshal() ([]byte, error) {
	a.once.Do(func() {
		pod := shownPod{a.guest.visible, a.pod}
		a.encoded, a.encodeErr = pod.Marshal()
	})
	return a.encoded, a.encodeErr
}

// cycle is what the plugin keeps in a CycleState: the attempt, and which calls have left
// something in the guest's memory. A cloned CycleState has a history of its own.
type cycle struct {
	*attempt
	lease   *lease         // which nothing reads: while the cycle is there, its guest stays open. A guess has none
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

func (c *cycle) Clone() fwk.StateData {
	return &cycle{attempt: c.attempt, lease: c.lease, history: c.history}
}

// Digest implements naming.Decider.
func (c *cycle) Digest() string { return c.guest.digest }

// Excluded implements naming.Excluder.
func (c *cycle) Excluded() string { return c.excluded }

// question is what a guest is asked in a cycle.
type question struct {
	hook abi.Hook
	node fwk.NodeInfo // that it is about, or nil
	in   abi.In       // what the guest may ask itself, beside the pod and the node
	out  abi.Out      // what it answers
	// after are the steps that the instance must have seen. When it has answered, it has seen the history of the cycle.
	after []*step
}

// ask answers a question, also in the framework's words. After an error the guest is not called any more in
// the attempt, by the failure policy; what is remembered of it goes on to count.
func (c *cycle) ask(q *question) *fwk.Status {
	g := c.guest
	// 1. A hook that does nothing has one answer.
	if !g.compiled.Active.Has(q.hook) {
		q.out.Verdict = g.compiled.Constants[q.hook]
		return statusOf(q.hook, q.out.Verdict)
	}
	// 2. An answer that is remembered is no call, and is found without a look at the node. Of a guest whose answers are
	// remembered, those of all active hooks are.
	var answer answers.Answer
	if c.answers != nil {
		answer = c.answers.Answer(q.hook, q.node)
		if answer.Get(&q.out) {
			g.metrics.uncounted.Add(1)
			c.trace.Remembered()
			return statusOf(q.hook, q.out.Verdict)
		}
	}
	// 3. The guest is called. A call that waits for the instance after one that failed finds the error.
	s := g.pool.acquire()
	defer g.pool.release(s)
	err := s.call(c, q)
	if err != nil {
		return c.fail(q.hook, err)
	}
	// 4. What may be remembered is.
	if c.answers != nil {
		g.remember(answer, q)
	}
	return statusOf(q.hook, q.out.Verdict)
}

// askStep asks a question whose answer an instance has to have seen from now on.
func (c *cycle) askStep(q *question) *fwk.Status {
	q.after = c.history
	if c.guest.compiled.Active.Has(q.hook) {
		c.history = append(slices.Clip(c.history), &step{q.hook, q.in})
	}
	return c.ask(q)
}

// cycleWithin is how many times as long as one call all calls of a scheduling cycle may
// take.
const cycleWithin = 10

// fail notes that a call has failed. Under FailurePolicyIgnore the attempt goes on without the guest.
func (c *cycle) fail(hook abi.Hook, err error) *fwk.Status {
	first := c.failed.CompareAndSwap(nil, &err)
	if c.guest.args.FailurePolicy != FailurePolicyIgnore {
		return fwk.AsStatus(err)
	}
	if first {
		skipped.WithLabelValues(c.guest.name).Inc()
		klog.FromContext(c.guest.ctx).Error(err, "Wasm guest failed: the pod is scheduled without it", "plugin", c.guest.name, "guest", c.guest.url, "digest", c.guest.digest, "pod", klog.KObj(c.pod))
	}
	switch hook {
	case abi.PreFilter, abi.PreScore, abi.Bind:
		return fwk.NewStatus(fwk.Skip)
	case abi.PostFilter:
		return fwk.NewStatus(fwk.Unschedulable)
	}
	return nil
}

// statusOf is a guest's verdict in the framework's words. Success is nil.
func statusOf(hook abi.Hook, v abi.Verdict) *fwk.Status {
	switch {
	case v.Code == 0 && len(v.Reasons) == 0:
		return nil
	case v.Code < 0 || v.Code > int32(fwk.Pending):
		return fwk.AsStatus(fmt.Errorf("wasm: %s returned the status code %d, which does not exist", hook, v.Code))
	case !mayReturn(hook, fwk.Code(v.Code)):
		return fwk.AsStatus(fmt.Errorf("wasm: %s returned the status code %d, %s, which is not for this hook", hook, v.Code, fwk.Code(v.Code)))
	case v.Reasons == nil:
		v.Reasons = noReason
	}
	return fwk.NewStatus(fwk.Code(v.Code), v.Reasons...)
}

// mayReturn reports whether the framework takes a code from a hook. It finds no error in one
// that it does not expect.
func mayReturn(hook abi.Hook, code fwk.Code) bool {
	switch code {
	case fwk.Wait:
		return hook == abi.Permit
	case fwk.Skip:
		return hook == abi.PreFilter || hook == abi.PreScore || hook == abi.Bind
	}
	return true
}

var noReason = []string{""}
