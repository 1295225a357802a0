package wasmhost

import (
	"math/rand/v2"
	"time"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
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
	if passing != nil {
		c.recheckRejected(passing)
	} else {
		c.askAboutUnknown()
		passing = c.known.Passing()
	}
	switch {
	case passing == nil || c.plugin.answers.Off():
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

// recheckRejected asks again about one of the nodes that are not named: no Filter is called
// for them. It does so as often as Filter would for all of them. For a pod that is rejected,
// it always does so: nothing else would find a contract violation.
func (c *cycle) recheckRejected(passing *naming.Named) {
	nodes := c.known.Len()
	rejected := nodes - passing.Nodes
	switch {
	case rejected == 0 || passing.Nodes > 0 && passing.Result == nil: // each has its Filter
		return
	case passing.Nodes > 0 && !c.plugin.answers.Recheck(rejected), !c.known.MayRecheck():
		return
	}
	first := rand.IntN(nodes)
	for i := range nodes {
		name, node := c.known.At((first + i) % nodes)
		if v, _ := c.known.Get(abi.Filter, node); v.Code != 0 {
			c.recheck(abi.Filter, name, answers.PreFilter{Verdict: v})
			return
		}
	}
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
		name, node := c.known.At(place)
		v, err := c.ask(abi.Filter, abi.In{NodeName: name}, nil)
		if err != nil || fwk.Code(v.Code) == fwk.Error {
			break
		}
		c.plugin.metrics.asked.Inc()
		if worthKeeping(abi.Filter, v) {
			verdicts[node] = v
		}
	}
	c.known.Put(abi.Filter, verdicts)
}
