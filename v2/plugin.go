package main

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// plugin is the policy behind the hooks.
type plugin struct {
	policy    regex.Policy
	selectors *regex.Cache

	// The state of the cycle, set by PreFilter for each Filter that follows:
	// what to match against, and the verdict on nodes that don't, or on all
	// nodes if there is nothing to match against.
	selector *regex.Selector
	verdict  guest.Status
}

func newPlugin(policy regex.Policy) *plugin {
	return &plugin{
		policy:    policy,
		selectors: regex.NewCache(policy, maxSelectors),
		verdict:   guest.Status{Code: guest.Error, Reason: "filter was called before prefilter"},
	}
}

// PreFilter begins the cycle of a pod. A pod without the annotation takes no
// further part. One whose pattern is refused waits for another annotation:
// trying again would not help, nor would evicting other pods. If the pattern
// matches few names, those are the only nodes that the scheduler looks at.
func (p *plugin) PreFilter(pod guest.Pod) ([]string, guest.Status) {
	p.selector, p.verdict = nil, guest.Status{}
	pattern, found, err := pod.Annotation(p.policy.Annotation)
	if err != nil {
		p.verdict = guest.Status{Code: guest.Error, Reason: err.Error()}
		return nil, p.verdict
	}
	if !found {
		return nil, guest.Status{Code: guest.Skip}
	}
	selector, err := p.selectors.Compile(pattern)
	if err != nil {
		p.verdict = unresolvable(err.Error())
		return nil, p.verdict
	}
	p.selector, p.verdict = selector, unresolvable(selector.Mismatch())
	return selector.Names(), guest.Status{}
}

// Filter admits the nodes whose names match. No eviction renames a node, so
// what does not match is unresolvable.
func (p *plugin) Filter(nodeName string) *guest.Status {
	if p.selector != nil && p.selector.Match(nodeName) {
		return nil
	}
	return &p.verdict
}

// PostFilter tells the pod's author of the regex where the scheduler, which was
// given names, has no reason for the nodes that it did not look at.
func (p *plugin) PostFilter() guest.Status {
	if p.selector == nil || len(p.selector.Names()) == 0 {
		return guest.Status{}
	}
	return guest.Status{Code: guest.Unschedulable, Reason: p.selector.Unlisted()}
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

func unresolvable(reason string) guest.Status {
	return guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: reason}
}
