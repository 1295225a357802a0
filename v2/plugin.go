package main

import (
	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// plugin is the policy behind the hooks.
type plugin struct {
	keys     []string // of the annotations
	patterns *regex.Cache

	// The state of the cycle, which preFilter sets and the other hooks read: the rules of the
	// pod, and the status for each of their verdicts. If refused is no success, all nodes get it.
	rules    regex.Rules
	statuses [regex.Verdicts]guest.Status
	refused  guest.Status
}

func newPlugin(policy regex.Policy) *plugin {
	return &plugin{
		keys:     policy.Keys(),
		patterns: regex.NewCache(policy, maxPatterns),
		refused:  guest.Status{Code: guest.Error, Reason: "filter was called before prefilter"},
	}
}

// preFilter begins the cycle of a pod. It skips a pod that may run on every node. A pod whose
// pattern is refused stays pending until an annotation changes: neither a retry nor
// preemption would help.
func (p *plugin) preFilter(pod guest.Pod) guest.Status {
	p.rules = regex.Rules{}
	p.refused = guest.Status{}
	values, err := pod.Annotations(p.keys...)
	if err != nil {
		p.refused = guest.Status{Code: guest.Error, Reason: err.Error()}
		return p.refused
	}
	p.rules, err = p.patterns.CompileValues(values)
	if err != nil {
		p.refused = unresolvable(err.Error())
		return p.refused
	}
	if !p.rules.Filters() {
		return guest.Status{Code: guest.Skip}
	}
	for v := range p.statuses {
		p.statuses[v] = unresolvable(p.rules.Reason(regex.Verdict(v)))
	}
	return guest.Status{}
}

// filter rejects the nodes whose names do not qualify. Preemption does not rename a node,
// so they are unresolvable.
func (p *plugin) filter(nodeName string) *guest.Status {
	if p.refused.Code != guest.Success {
		return &p.refused
	}
	v := p.rules.Judge(nodeName)
	if v != regex.Qualifies {
		return &p.statuses[v]
	}
	return nil
}

// preScore skips a pod that prefers no nodes.
func (p *plugin) preScore() guest.Status {
	if !p.rules.Scores() {
		return guest.Status{Code: guest.Skip}
	}
	return guest.Status{}
}

// score is 100 for a node that the pod prefers, and 0 for another one.
func (p *plugin) score(nodeName string) int32 {
	if p.rules.Prefers(nodeName) {
		return 100
	}
	return 0
}

func unresolvable(reason string) guest.Status {
	return guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: reason}
}
