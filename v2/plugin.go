package main

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// plugin is the policy behind the hooks.
type plugin struct {
	keys      []string // of the annotations
	selectors *regex.Cache

	// The state of the cycle, which preFilter sets and the other hooks read: the selector,
	// and the status for each of its verdicts. Without a selector, refused is the status
	// of all nodes. preference selects the nodes that score higher, or is nil.
	selector   *regex.Selector
	statuses   [regex.Verdicts]guest.Status
	refused    guest.Status
	preference *regex.Selector
}

func newPlugin(policy regex.Policy) *plugin {
	return &plugin{
		keys:      policy.Keys(),
		selectors: regex.NewCache(policy, maxSelectors),
		refused:   guest.Status{Code: guest.Error, Reason: "filter was called before prefilter"},
	}
}

// preFilter begins the cycle of a pod. It skips a pod that may run on every node. A pod whose
// pattern is refused stays pending until an annotation changes: neither a retry nor
// preemption would help.
func (p *plugin) preFilter(pod guest.Pod) guest.Status {
	p.selector, p.preference = nil, nil
	p.refused = guest.Status{}
	patterns, err := pod.Annotations(p.keys...)
	if err != nil {
		p.refused = guest.Status{Code: guest.Error, Reason: err.Error()}
		return p.refused
	}
	p.selector, err = p.selectors.Select(patterns...)
	if err != nil {
		p.refused = unresolvable(err.Error())
		return p.refused
	}
	p.preference, _ = p.selectors.Prefer(patterns...) // Select has refused what it refuses
	if p.selector == nil {
		return guest.Status{Code: guest.Skip}
	}
	for v := range p.statuses {
		p.statuses[v] = unresolvable(p.selector.Reason(regex.Verdict(v)))
	}
	return guest.Status{}
}

// filter rejects the nodes whose names do not qualify. Preemption does not rename a node,
// so they are unresolvable.
func (p *plugin) filter(nodeName string) *guest.Status {
	if p.selector == nil {
		return &p.refused
	}
	v := p.selector.Judge(nodeName)
	if v != regex.Qualifies {
		return &p.statuses[v]
	}
	return nil
}

// preScore skips a pod that prefers no nodes.
func (p *plugin) preScore() guest.Status {
	if p.preference == nil {
		return guest.Status{Code: guest.Skip}
	}
	return guest.Status{}
}

// score is 100 for a node that the pod prefers, and 0 for another one.
func (p *plugin) score(nodeName string) int32 {
	if p.preference != nil && p.preference.Match(nodeName) {
		return 100
	}
	return 0
}

func unresolvable(reason string) guest.Status {
	return guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: reason}
}
