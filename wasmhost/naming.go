package wasmhost

import (
	"cmp"
	"math/rand/v2"
	"time"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// narrow names to the scheduler the nodes that the guest lets the pod run on, if these
// are known. result is what the guest itself has answered.
func (p *plugin) narrow(c *cycle, result *fwk.PreFilterResult) (*fwk.PreFilterResult, *fwk.Status) {
	if c.answers == nil || !p.guest.Active.Has(abi.Filter) || len(c.nodes.listed) == 0 {
		return result, nil
	}
	passing := c.answers.passingOf(c.nodes)
	if passing != nil {
		p.recheckRejected(c, passing)
	} else {
		p.askAboutUnknown(c)
		passing = c.answers.passingOf(c.nodes)
	}
	switch {
	case passing == nil || p.answers.off.Load():
		return result, nil
	case passing.Nodes == 0:
		c.turnedDown = true
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, passing.Rejected)
	case passing.Result == nil:
		return result, nil
	}
	c.leftOut = passing.Rejected
	if result.AllNodes() {
		return passing.Result, nil
	}
	return result.Merge(passing.Result), nil
}

// recheckRejected asks again about one of the nodes that are left out: no Filter is called
// for them. It does so about as often as Filter would for all of them. For a pod that is
// turned down, it is the only way to find a contract violation, so it does so whenever it
// may.
func (p *plugin) recheckRejected(c *cycle, passing *passingNodes) {
	nodes := len(c.nodes.listed)
	switch left := nodes - passing.Nodes; {
	case left == 0 || passing.Nodes > 0 && passing.Result == nil: // each has its Filter
		return
	case passing.Nodes == 0 && !p.answers.mayRecheck(), passing.Nodes > 0 && !p.answers.recheckOneOf(left):
		return
	}
	first := rand.IntN(nodes)
	for i := range nodes {
		at := (first + i) % nodes
		if v, _ := c.answers.about(abi.Filter, c.nodes.listed[at]); v.Code != 0 {
			p.recheck(c, abi.Filter, c.nodes.name(at), answer{Verdict: v})
			return
		}
	}
}

// passingNodes says which nodes of a table pass.
type passingNodes struct {
	table uint64 // its number
	naming.Named
}

// passingOf finds which nodes of a table pass, where the answers about all of them
// are known. It is made once for each table.
func (a *podAnswers) passingOf(t *nodeTable) *passingNodes {
	before := a.passing.Load()
	if before != nil && before.table == t.number {
		return before
	}
	for _, id := range t.listed {
		if a.filter.get(id) == 0 {
			return nil
		}
	}
	p := &passingNodes{t.number, *naming.Divide(t.list, func(i int) string {
		v, _ := a.about(abi.Filter, t.listed[i])
		if v.Code == 0 {
			return ""
		}
		return cmp.Or(v.Reason(), "node(s) rejected without a reason")
	})}
	a.passing.Store(p)
	a.cache.grew(a, p.bytes()-before.bytes())
	return p
}

// bytes is about what the words and the set take. The text of the names is the nodes'.
func (p *passingNodes) bytes() int64 {
	switch {
	case p == nil:
		return 0
	case p.Result == nil:
		return int64(len(p.Rejected))
	}
	return int64(len(p.Rejected)) + setBytes(len(p.Result.NodeNames))
}

// PreFilter asks a guest about so many nodes that Filter may not come to, and about more for
// as long as askedAhead: v2 answers about tens of thousands meanwhile.
const (
	leastAhead = 1000
	askedAhead = 50 * time.Millisecond
)

// askAboutUnknown asks a guest about the nodes of a cycle on which it has given no verdict
// yet. Filter asks about those for which there is no time.
func (p *plugin) askAboutUnknown(c *cycle) {
	began := time.Now()
	for asked, i := range c.answers.unknown(c.nodes) {
		if asked >= leastAhead && time.Since(began) > askedAhead || c.time.exceeds(1) {
			return
		}
		if v, err := p.learn(c, abi.Filter, c.nodes.name(i), c.nodes.listed[i]); err != nil || fwk.Code(v.Code) == fwk.Error {
			return
		}
	}
}

// unknown finds the nodes of a table about which there is no answer yet: the place of
// one node for each number.
func (a *podAnswers) unknown(t *nodeTable) (places []int) {
	seen := make([]bool, t.size)
	for i, id := range t.listed {
		if !seen[id] && a.filter.get(id) == 0 {
			seen[id] = true
			places = append(places, i)
		}
	}
	return places
}
