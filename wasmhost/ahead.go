package wasmhost

import (
	"time"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// keep counts an answer that the guest gave, and keeps one that may be remembered.
func (p *plugin) keep(slot answers.Slot, q *question) (kept bool) {
	p.metrics.asked.Inc()
	if worthKeeping(q.hook, q.out.Verdict) {
		slot.Put(&q.out)
		return true
	}
	return false
}

// worthKeeping reports whether a verdict may be remembered. An Error may be gone at the
// next try, and so may a code that the scheduler takes for an Error, or retries.
// OutOfReasons is not the guest's reason.
func worthKeeping(hook abi.Hook, v abi.Verdict) bool {
	switch fwk.Code(v.Code) {
	case fwk.Success, fwk.Unschedulable, fwk.UnschedulableAndUnresolvable:
		return v.Reason() != abi.OutOfReasons
	case fwk.Skip:
		return hook == abi.PreFilter || hook == abi.PreScore
	}
	return false
}

// narrow names to the scheduler the nodes that the guest lets the pod run on, if these
// are known. result is what the guest itself has answered.
func (c *cycle) narrow(result *fwk.PreFilterResult) (*fwk.PreFilterResult, *fwk.Status) {
	if !c.plugin.guest.Active.Has(abi.Filter) || c.known.Nodes() == 0 {
		return result, nil
	}
	passing := c.known.Passing()
	if passing == nil && c.known.Again { // else Filter asks: perhaps no other pod is like this one
		c.askAhead()
		passing = c.known.Passing()
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

// askAhead asks a guest about the nodes of a cycle on which it has given no verdict yet, so that it is
// known which pass. That is a guess, with an attempt of its own: what fails or lasts too long there ends the
// asking, and Filter asks again if the scheduler comes to the node. What the guest has in its memory by then, it forgets by a PreFilter.
func (c *cycle) askAhead() {
	ahead := &cycle{history: c.history, attempt: &attempt{plugin: c.plugin, pod: c.pod, measured: c.measured, trace: c.trace}}
	began := time.Now()
	asked := 0
	for node, slot := range c.known.Unknown() {
		asking := time.Since(began)
		if asked >= leastAhead && asking > askedAhead || asking > mostAhead || ahead.looks.Load() >= looksEach {
			return
		}
		asked++
		q := &question{hook: abi.Filter, in: abi.In{Node: node, NodeName: node.Name}, after: ahead.history}
		if !ahead.askOne(q, slot) {
			slot.GiveUp()
			return
		}
	}
}

// askOne asks a question whose error fails no attempt.
func (c *cycle) askOne(q *question, slot answers.Slot) (kept bool) {
	s := c.plugin.pool.acquire()
	defer c.plugin.pool.release(s)
	return s.call(c, q) == nil && c.plugin.keep(slot, q)
}
