package wasmhost

import (
	"time"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

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
	began, verdicts := time.Now(), map[answers.Node]abi.Verdict{}
	for asked, place := range c.known.Unknown() {
		if asked >= leastAhead && time.Since(began) > askedAhead || c.time.exceeds(1) {
			break
		}
		node, number := c.known.At(place)
		v, err := c.ask(abi.Filter, onNode(node), nil)
		if err != nil || fwk.Code(v.Code) == fwk.Error {
			break
		}
		if c.counted(abi.Filter, v) {
			verdicts[number] = v
		}
	}
	c.known.Put(abi.Filter, verdicts)
}
