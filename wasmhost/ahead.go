package wasmhost

import (
	"time"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// remember counts an answer that the guest gave, and remembers it if it may.
func (g *guest) remember(answer answers.Answer, q *question) bool {
	g.metrics.asked.Inc()
	return mayRemember(q.hook, q.out.Verdict) && answer.Put(&q.out)
}

// mayRemember reports whether a verdict may be remembered. An Error may be gone at the
// next try, and so may a code that the scheduler takes for an Error, or retries.
// OutOfReasons is not the guest's reason.
func mayRemember(hook abi.Hook, v abi.Verdict) bool {
	switch fwk.Code(v.Code) {
	case fwk.Success, fwk.Unschedulable, fwk.UnschedulableAndUnresolvable:
		return v.Reason() != abi.OutOfReasons
	case fwk.Skip:
		return hook == abi.PreFilter || hook == abi.PreScore
	}
	return false
}

// narrow names to the scheduler the nodes that the guest lets the pod run on, if that is remembered of all nodes.
// result is what the guest itself has answered. Nodes that are not named are out for preemption, too, which may change the answer of a
// guest that decides by the pods on a node.
func (c *cycle) narrow(result *fwk.PreFilterResult) (*fwk.PreFilterResult, *fwk.Status) {
	if !c.guest.compiled.Active.Has(abi.Filter) || c.answers.Nodes() == 0 || c.guest.decidesBy.DependOnPods() {
		return result, nil
	}
	passing := c.answers.Passing()
	if passing == nil && c.answers.Again { // else Filter asks: perhaps no other pod is of this kind
		c.askAhead()
		passing = c.answers.Passing()
	}
	switch {
	case passing == nil:
		return result, nil
	case passing.Nodes == 0:
		c.rejected = true
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, passing.Rejected)
	case passing.Result == nil:
		return result, nil
	}
	c.excluded = passing.Rejected
	if result.AllNodes() {
		return passing.Result, nil
	}
	return result.Merge(passing.Result), nil
}

// PreFilter asks a guest about so many nodes that Filter may not come to, and about more for
// as long as askedAhead: v2 answers about tens of thousands meanwhile. One that is slow is asked for mostAhead.
const (
	leastAhead = 1000
	askedAhead = 50 * time.Millisecond
	mostAhead  = time.Second
)

// askAhead asks a guest for the answers of Filter that are missing, so that it is
// known which nodes pass. That is a guess, with an attempt of its own: what fails or lasts too long there ends the
// asking, and Filter asks again if the scheduler comes to the node. What the guest has in its memory by then, it forgets by a PreFilter.
func (c *cycle) askAhead() {
	ahead := &cycle{history: c.history, attempt: &attempt{guest: c.guest, pod: c.pod, measured: c.measured, trace: c.trace}}
	began := time.Now()
	asked := 0
	for node, answer := range c.answers.Missing() {
		asking := time.Since(began)
		if asked >= leastAhead && asking > askedAhead || asking > mostAhead || ahead.looks.Load() >= looksEach {
			return
		}
		asked++
		q := &question{hook: abi.Filter, node: node, after: ahead.history}
		s := c.guest.pool.acquire()
		err := s.call(ahead, q)
		c.guest.pool.release(s)
		if err != nil || !c.guest.remember(answer, q) {
			answer.GiveUp()
			return
		}
	}
}
