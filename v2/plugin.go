package main

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// plugin is the policy behind the hooks.
type plugin struct {
	policy    regex.Policy
	selectors *regex.Cache

	// The state of the cycle, set by PreFilter for each Filter that follows: what
	// decides on nodes, and the statuses of its verdicts. If nothing does, refused
	// is the status of all nodes.
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

// PreFilter begins the cycle of a pod. A pod without the annotations takes no
// further part. One whose pattern is refused waits for another annotation:
// trying again would not help, nor would evicting other pods.
func (p *plugin) PreFilter(pod guest.Pod) guest.Status {
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

// Filter admits the nodes that qualify by their names. No eviction renames a node,
// so the others are unresolvable.
func (p *plugin) Filter(nodeName string) *guest.Status {
	if p.selector == nil {
		return &p.refused
	}
	if v := p.selector.Judge(nodeName); v != regex.Qualifies {
		return &p.statuses[v]
	}
	return nil
}

// EventsToRegister names what can help a rejected pod: a new node, and another
// annotation.
func (p *plugin) EventsToRegister() []guest.ClusterEvent {
	return []guest.ClusterEvent{
		{Resource: guest.NodeResource, ActionType: guest.Add},
		{Resource: guest.PodResource, ActionType: guest.UpdatePodOther | guest.UpdatePodLabel |
			guest.UpdatePodTolerations | guest.UpdatePodSchedulingGatesEliminated},
	}
}

// DecidesBy names the two annotations and the node's name. The cache of selectors makes
// verdicts faster, and changes none.
func (p *plugin) DecidesBy() []guest.Field {
	return []guest.Field{
		guest.PodAnnotation(p.policy.Annotation), guest.PodAnnotation(p.policy.ExcludeAnnotation), guest.NodeName,
	}
}

func unresolvable(reason string) guest.Status {
	return guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: reason}
}
