package wasmhost

import (
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/memory"
)

// askAboutPod is what PreFilter answers, or PreScore, whose step is the last: it is remembered, or
// the guest is asked.
func (c *cycle) askAboutPod(hook abi.Hook, in abi.In) (*fwk.PreFilterResult, *fwk.Status) {
	if c.known != nil {
		known := c.known.Answer(hook)
		if known != nil {
			c.recalled()
			return known.Result, statusOf(hook, known.Verdict)
		}
	}
	out, err := c.call(hook, in)
	a := memory.Answer{Verdict: out.Verdict}
	if len(out.NodeNames) > 0 {
		a.Result = &fwk.PreFilterResult{NodeNames: sets.New(out.NodeNames...)}
	}
	if err == nil && c.known != nil && c.plugin.guest.Active.Has(hook) {
		c.plugin.metrics.asked.Inc()
		if worthKeeping(hook, a.Verdict) {
			c.known.PutAnswer(hook, &a)
		}
	}
	return a.Result, c.status(hook, a.Verdict, err)
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
	if c.known == nil || !c.plugin.guest.Active.Has(abi.Filter) || c.known.Len() == 0 {
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
// known which pass. That is a guess, with an attempt of its own: what fails or lasts too long there
// ends the asking, and Filter asks again if the scheduler comes to the node.
func (c *cycle) askAhead() {
	ahead := &cycle{history: c.history, attempt: &attempt{
		plugin: c.plugin, pod: c.pod, measured: c.measured, trace: c.trace, ahead: true,
	}}
	began := time.Now()
	for asked, place := range c.known.Unknown() {
		asking := time.Since(began)
		if asked >= leastAhead && asking > askedAhead || asking > mostAhead || ahead.time.exceeds(1) {
			return
		}
		node, number := c.known.At(place)
		out, err := ahead.call(abi.Filter, onNode(node))
		if err == nil {
			c.plugin.metrics.asked.Inc()
		}
		if err != nil || !worthKeeping(abi.Filter, out.Verdict) {
			c.known.GiveUp(number)
			return
		}
		c.known.Put(abi.Filter, number, out.Verdict)
	}
}
