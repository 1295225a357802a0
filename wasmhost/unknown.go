package wasmhost

import (
	"cmp"
	"slices"
	"time"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// few is how many nodes a guest is asked about in PreFilter, one by one.
const few = 16

// askAboutUnknown asks a guest about nodes of a cycle on which it has given no verdict
// yet: about all at once, or about a few. Filter asks about others, and so do the cycles of
// the pods to come.
func (p *plugin) askAboutUnknown(c *cycle) {
	unknown := c.answers.unknown(c.nodes)
	if p.filtersNames() {
		p.filterNames(c, unknown)
		return
	}
	for _, i := range unknown[:min(few, len(unknown))] {
		if v, err := p.learn(c, abi.Filter, c.nodes.nodes[i]); err != nil || fwk.Code(v.Code) == fwk.Error {
			return
		}
	}
}

// filtersNames reports whether the guest can be asked about many nodes at once.
func (p *plugin) filtersNames() bool {
	return p.answers != nil && p.guest.FiltersNames && onlyName(p.decidesBy.Node)
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

// maxReasons is how often nodes are asked about again because they have another reason.
const maxReasons = 8

// filterNames asks a guest about many nodes at once, by their places. A call has one
// reason. So it asks again about nodes that have another one, as long as there is time.
func (p *plugin) filterNames(c *cycle, places []int) {
	s, err := p.enter(c, abi.Filter)
	if err != nil {
		return // the pod's next call returns it
	}
	defer p.pool.unlock(s)
	p.show(s.instance, c, abi.In{})
	places = slices.DeleteFunc(places, func(i int) bool { return len(c.nodes.nodes[i].Name) > abi.MaxName })
	until := time.Now().Add(cmp.Or(p.args.callTimeout(), DefaultCallTimeout)) // all together
	for round := 0; round < maxReasons && len(places) > 0; round++ {
		var unanswered []int
		for len(places) > 0 && time.Now().Before(until) {
			codes, reasons, err := s.instance.FilterNames(len(places), func(i int) string { return c.nodes.nodes[places[i]].Name })
			if err != nil {
				_ = p.lose(s, c, abi.Filter, err)
				return
			}
			unanswered = append(unanswered, c.answers.keepCodes(c.nodes, places, codes, reasons)...)
			places = places[len(codes):]
		}
		places = unanswered
	}
}

// keepCodes remembers what a guest has answered about many nodes at once. It returns the
// places of nodes that have another reason.
func (a *podAnswers) keepCodes(t *nodeTable, places []int, codes []byte, reasons []string) (unanswered []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var numbers [256]uint16 // of the verdicts, by their codes
	for i, code := range codes {
		if code == abi.Unanswered {
			unanswered = append(unanswered, places[i])
			continue
		}
		if numbers[code] == 0 {
			v := abi.Verdict{Code: int32(code), Reasons: reasons}
			if v.Code == 0 {
				v.Reasons = nil
			}
			if !worthKeeping(abi.Filter, v) {
				continue
			}
			numbers[code] = a.number(v)
		}
		a.set(&a.filter, t.listed[places[i]], t.size, numbers[code])
	}
	a.cache.metrics.asked.Add(float64(len(codes) - len(unanswered)))
	return unanswered
}
