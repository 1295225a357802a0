package wasmhost

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// whyForgotten says why the host remembers no answer of a guest, which then sees whole objects.
// It is empty for a guest that declares what it decides by, and does nothing else. What other
// hooks hand to a guest is declared by nobody, and later answers could depend on it.
func whyForgotten(guest *abi.Guest) string {
	switch active := guest.Active; {
	case !guest.Declares:
		return "the guest does not declare what it decides by"
	case active.Has(bindingCycle...):
		return "the guest takes part in reserve, permit or binding"
	case active.Has(abi.AddPod, abi.RemovePod):
		return "the guest keeps account of pods that are added and removed"
	case active.Has(abi.PostFilter, abi.NormalizeScore):
		return "the guest compares nodes in postfilter or normalizescore"
	case active.Has(abi.PreScore) && guest.AsksWhoPassed:
		return "the guest may ask in prescore which nodes passed"
	case guest.UsesHandle:
		return "the guest acts on the scheduler through its handle"
	}
	return ""
}

// recallPreFilter remembers what a guest answers to PreFilter, or asks.
func (c *cycle) recallPreFilter() (answers.PreFilter, error) {
	if c.known != nil {
		if known := c.known.PreFilter(); known != nil {
			c.plugin.metrics.recalled.Add(1)
			return *known, nil
		}
	}
	var a answers.PreFilter
	v, err := c.ask(abi.PreFilter, abi.In{}, func(_ *instance, out *abi.Out) {
		if len(out.NodeNames) > 0 {
			a.Result = &fwk.PreFilterResult{NodeNames: sets.New(out.NodeNames...)}
		}
	})
	a.Verdict = v
	if err == nil && c.counted(abi.PreFilter, v) {
		c.known.PutPreFilter(&a)
	}
	return a, err
}

// recallPreScore remembers what a guest answers to PreScore, or asks.
func (c *cycle) recallPreScore(nodes []fwk.NodeInfo) (abi.Verdict, error) {
	if c.known != nil {
		if known := c.known.PreScore(); known != nil {
			c.scored.Store(&nodes)
			c.plugin.metrics.recalled.Add(1)
			return *known, nil
		}
	}
	in := abi.In{FilteredNodes: func() any { return namesOf(nodes) }}
	v, err := c.ask(abi.PreScore, in, func(i *instance, _ *abi.Out) {
		i.seen.scored = &nodes
		c.scored.Store(&nodes)
	})
	if err == nil && c.counted(abi.PreScore, v) {
		c.known.PutPreScore(&v)
	}
	return v, err
}

// recall remembers what a guest answers to Filter or Score about a node, or asks.
func (c *cycle) recall(hook abi.Hook, node fwk.NodeInfo) (abi.Verdict, error) {
	if c.known == nil {
		return c.ask(hook, onNode(node.Node()), nil)
	}
	number := c.known.Number(node)
	if v, known := c.known.Get(hook, number); known {
		c.plugin.metrics.recalled.Add(1)
		return v, nil
	}
	return c.learn(hook, node.Node(), number)
}

// learn asks a guest about a node, and remembers the answer by the node's number.
func (c *cycle) learn(hook abi.Hook, node *v1.Node, number answers.Node) (abi.Verdict, error) {
	v, err := c.ask(hook, onNode(node), nil)
	if err == nil && c.counted(hook, v) {
		c.known.Put(hook, map[answers.Node]abi.Verdict{number: v})
	}
	return v, err
}

// counted counts an answer of the guest where answers are remembered, and reports whether it may be.
func (c *cycle) counted(hook abi.Hook, v abi.Verdict) bool {
	if c.known == nil {
		return false
	}
	c.plugin.metrics.asked.Inc()
	return worthKeeping(hook, v)
}

// worthKeeping reports whether a verdict may be remembered. An Error may be gone at the
// next try, and so may a code that the scheduler takes for an Error, or retries.
// OutOfReasons is not the guest's reason.
func worthKeeping(hook abi.Hook, v abi.Verdict) bool {
	switch fwk.Code(v.Code) {
	case fwk.Success, fwk.Unschedulable, fwk.UnschedulableAndUnresolvable:
		return v.Reason() != abi.OutOfReasons
	case fwk.Skip:
		return hook == abi.PreFilter || hook == abi.PreScore
	}
	return false
}
