package main

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// plugin is the policy behind the hooks.
type plugin struct {
	policy    regex.Policy
	selectors *regex.Cache

	// The state of the cycle, which preFilter sets and filter reads: the selector, and
	// the status for each of its verdicts. Without a selector, refused is the status
	// of all nodes.
	selector *regex.Selector
	statuses [regex.Excluded + 1]guest.Status
	refused  guest.Status
}

func newPlugin(policy regex.Policy) *plugin {
	return &plugin{
		policy:    policy,
		selectors: regex.NewCache(policy, maxSelectors),
		refused:   guest.Status{Code: guest.Error, Reason: "filter was called before prefilter"},
	}
}

// preFilter begins the cycle of a pod. It skips a pod without the annotations. A pod whose
// pattern is refused stays pending until an annotation changes: neither a retry nor
// preemption would help.
func (p *plugin) preFilter(pod guest.Pod) guest.Status {
	p.selector, p.refused = nil, guest.Status{}
	patterns, err := pod.Annotations(p.policy.Annotation, p.policy.ExcludeAnnotation)
	if err != nil {
		p.refused = guest.Status{Code: guest.Error, Reason: err.Error()}
		return p.refused
	}
	if p.selector, err = p.selectors.Select(patterns[0], patterns[1]); err != nil {
		p.refused = unresolvable(err.Error())
		return p.refused
	}
	if p.selector == nil {
		return guest.Status{Code: guest.Skip}
	}
	for v := regex.Mismatch; v <= regex.Excluded; v++ {
		p.statuses[v] = unresolvable(p.selector.Reason(v))
	}
	return guest.Status{}
}

// filter rejects the nodes whose names do not qualify. Preemption does not rename a node,
// so they are unresolvable.
func (p *plugin) filter(nodeName string) *guest.Status {
	if p.selector == nil {
		return &p.refused
	}
	if v := p.selector.Judge(nodeName); v != regex.Qualifies {
		return &p.statuses[v]
	}
	return nil
}

func unresolvable(reason string) guest.Status {
	return guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: reason}
}
