package wasmhost

import (
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// narrow names to the scheduler the nodes that the guest lets the pod run on, if these
// are known. result is what the guest itself has answered.
func (p *plugin) narrow(c *cycle, result *fwk.PreFilterResult) (*fwk.PreFilterResult, *fwk.Status) {
	if c.answers == nil || !p.active.Has(abi.Filter) || len(c.nodes.listed) == 0 {
		return result, nil
	}
	passing := c.answers.passingOf(c.nodes)
	if passing != nil {
		p.doubtRejected(c, passing)
	} else {
		p.askAboutUnknown(c)
		passing = c.answers.passingOf(c.nodes)
	}
	switch {
	case passing == nil || p.answers.off.Load():
		return result, nil
	case passing.nodes == 0:
		c.turnedDown = true
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, passing.rejected)
	case passing.result == nil:
		return result, nil
	}
	c.leftOut = passing.rejected
	if result.AllNodes() {
		return passing.result, nil
	}
	return result.Merge(passing.result), nil
}

// doubtRejected asks again about one of the nodes that are left out: no Filter is called
// for them. It does so about as often as Filter would for all of them. For a pod that is
// turned down, it is the only way to find a broken promise, so it does so whenever it may.
func (p *plugin) doubtRejected(c *cycle, passing *passingNodes) {
	nodes := len(c.nodes.listed)
	switch left := nodes - passing.nodes; {
	case left == 0 || passing.nodes > 0 && passing.result == nil: // each has its Filter
		return
	case passing.nodes == 0 && !p.answers.mayDoubt(), passing.nodes > 0 && !p.answers.doubtOneOf(left):
		return
	}
	first := rand.IntN(nodes)
	for i := range nodes {
		at := (first + i) % nodes
		if v, _ := c.answers.about(&c.answers.filter, c.nodes.listed[at]); !v.passes() {
			p.filter(c, c.nodes.nodes[at])
			return
		}
	}
}

// passingNodes are the nodes of a table that a guest lets a pod run on.
type passingNodes struct {
	table uint64 // its number
	nodes int    // how many they are
	// result names them, where that is worth it.
	result *fwk.PreFilterResult
	// rejected says in words how many of the others there are, and why. It is
	// empty where there are none.
	rejected string
}

// passingOf finds which nodes of a table pass, where the answers about all of them
// are known. It is made once for each table.
func (a *podAnswers) passingOf(t *nodeTable) *passingNodes {
	before := a.passing.Load()
	if before != nil && before.table == t.number {
		return before
	}
	counts := a.countVerdicts(t)
	if counts == nil {
		return nil
	}
	p := &passingNodes{table: t.number}
	reasons := map[string]int{}
	for number, nodes := range counts {
		if v := (*a.verdicts.Load())[number]; v.passes() {
			p.nodes += nodes
		} else if nodes > 0 {
			reasons[v.shown()] += nodes
		}
	}
	p.rejected = naming.Rejected(reasons)
	if naming.Worth(p.nodes, len(t.listed)) {
		p.result = &fwk.PreFilterResult{NodeNames: a.names(t, p.nodes)}
	}
	a.passing.Store(p)
	a.cache.grew(a, p.bytes()-before.bytes())
	return p
}

// countVerdicts counts the nodes of each verdict. It is nil where the verdict on
// one is not known.
func (a *podAnswers) countVerdicts(t *nodeTable) []int {
	known := a.verdicts.Load()
	if known == nil {
		return nil
	}
	counts := make([]int, len(*known))
	for _, id := range t.listed {
		number := a.filter.get(id)
		if number == 0 || int(number) > len(counts) {
			return nil
		}
		counts[number-1]++
	}
	return counts
}

// names are those of the nodes of a table that pass, whose number is known.
func (a *podAnswers) names(t *nodeTable, passing int) sets.Set[string] {
	names := make(sets.Set[string], passing)
	for i, id := range t.listed {
		if v, _ := a.about(&a.filter, id); v.passes() {
			names.Insert(t.nodes[i].Name)
		}
	}
	return names
}

// shown is the reason that a person sees for a node that does not pass.
func (v verdict) shown() string {
	if reason := v.reason(); reason != "" {
		return reason
	}
	return "node(s) rejected without a reason"
}

// bytes is about what the words and the set take. The text of the names is the nodes'.
func (p *passingNodes) bytes() int64 {
	switch {
	case p == nil:
		return 0
	case p.result == nil:
		return int64(len(p.rejected))
	}
	return int64(len(p.rejected)) + setBytes(len(p.result.NodeNames))
}
