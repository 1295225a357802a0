package wasmhost

import (
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/memory"
)

// learn remembers what Filter or Score has answered about a node, by the node's number.
func (c *cycle) learn(hook abi.Hook, number memory.Node, v abi.Verdict, err error) {
	if err == nil && c.counted(hook, v) {
		c.known.Put(hook, map[memory.Node]abi.Verdict{number: v})
	}
}

// askAboutPod is what PreFilter answers, or PreScore, whose step is the last: it is remembered, or
// the guest is asked.
func (c *cycle) askAboutPod(hook abi.Hook, in abi.In) (result *fwk.PreFilterResult, status *fwk.Status) {
	if c.measured {
		defer c.measure(hook, time.Now(), &status)
	}
	a, err := c.aboutPod(hook, in)
	return a.Result, c.status(hook, a.Verdict, err)
}

func (c *cycle) aboutPod(hook abi.Hook, in abi.In) (memory.Answer, error) {
	if c.known != nil {
		known := c.known.Answer(hook)
		if known != nil {
			c.recalled()
			return *known, nil
		}
	}
	out, err := c.call(hook, in)
	a := memory.Answer{Verdict: out.Verdict}
	if len(out.NodeNames) > 0 {
		a.Result = &fwk.PreFilterResult{NodeNames: sets.New(out.NodeNames...)}
	}
	if err == nil && c.counted(hook, a.Verdict) {
		c.known.PutAnswer(hook, &a)
	}
	return a, err
}

// counted counts an answer of the guest where answers are remembered, and reports whether it may be.
func (c *cycle) counted(hook abi.Hook, v abi.Verdict) bool {
	if c.known == nil || !c.plugin.guest.Active.Has(hook) {
		return false
	}
	c.plugin.metrics.asked.Inc()
	return worthKeeping(hook, v)
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
	if passing == nil {
		c.askAboutUnknown()
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
// as long as askedAhead: v2 answers about tens of thousands meanwhile.
const (
	leastAhead = 1000
	askedAhead = 50 * time.Millisecond
)

// askAboutUnknown asks a guest about the nodes of a cycle on which it has given no verdict
// yet. Filter asks about those for which there is no time.
func (c *cycle) askAboutUnknown() {
	began, verdicts := time.Now(), map[memory.Node]abi.Verdict{}
	for asked, place := range c.known.Unknown() {
		if asked >= leastAhead && time.Since(began) > askedAhead || c.time.exceeds(1) {
			break
		}
		node, number := c.known.At(place)
		out, err := c.call(abi.Filter, onNode(node))
		if err != nil || fwk.Code(out.Code) == fwk.Error {
			break
		}
		if c.counted(abi.Filter, out.Verdict) {
			verdicts[number] = out.Verdict
		}
	}
	c.known.Put(abi.Filter, verdicts)
}
