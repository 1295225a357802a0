package wasmhost

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// whyForgotten says why the host does not remember the answers of a guest. It is empty
// if the host does: the guest declares what it decides by, and does nothing else.
func whyForgotten(guest *abi.Guest) string {
	switch {
	case !guest.Declares:
		return "the guest does not declare what it decides by"
	case guest.Active.Has(bindingCycle...):
		return "the guest takes part in reserve, permit or binding"
	case guest.Active.Has(abi.AddPod, abi.RemovePod):
		return "the guest keeps account of pods that are added and removed"
	case guest.UsesHandle:
		return "the guest acts on the scheduler through its handle"
	}
	return ""
}

// recallPreFilter asks what a guest answers to PreFilter, or remembers it, unless
// that is doubted.
func (p *plugin) recallPreFilter(c *cycle) (preFilterAnswer, error) {
	var known *preFilterAnswer
	if c.answers != nil {
		known = c.answers.preFilter.Load()
	}
	if known != nil && !p.answers.doubt() {
		p.answers.metrics.recall()
		return *known, nil
	}
	var a preFilterAnswer
	v, err := p.ask(c, abi.PreFilter, abi.In{}, func(_ *instance, out *abi.Out) {
		if len(out.NodeNames) > 0 {
			a.result = &fwk.PreFilterResult{NodeNames: sets.New(out.NodeNames...)}
		}
	})
	a.Verdict = v
	if err != nil || c.answers == nil {
		return a, err
	}
	if known == nil {
		p.answers.metrics.asked.Inc()
	}
	switch {
	case !worthKeeping(abi.PreFilter, v):
	case known == nil:
		c.answers.keepPreFilter(&a)
	default:
		p.compare(c, abi.PreFilter, "", known.Verdict, v, sameNodes(known.result, a.result))
	}
	return a, nil
}

// sameNodes reports whether two results name the same nodes, in whatever order.
func sameNodes(a, b *fwk.PreFilterResult) bool {
	if a.AllNodes() || b.AllNodes() {
		return a.AllNodes() == b.AllNodes()
	}
	return a.NodeNames.Equal(b.NodeNames)
}

// recall remembers what a guest answers to Filter or Score about a node, or asks, also
// where that is doubted.
func (p *plugin) recall(c *cycle, hook abi.Hook, node *v1.Node) (abi.Verdict, error) {
	if c.answers != nil && !p.answers.off.Load() {
		if id, numbered := c.nodes.id(node); numbered {
			if v, known := c.answers.about(hook, id); known && !p.answers.doubt() {
				p.answers.metrics.recall()
				return v, nil
			}
		}
	}
	return p.learn(c, hook, node)
}

// learn asks a guest about a node, and remembers the answer.
func (p *plugin) learn(c *cycle, hook abi.Hook, node *v1.Node) (abi.Verdict, error) {
	v, err := p.ask(c, hook, abi.In{NodeName: node.Name}, nil)
	if err != nil || c.answers == nil {
		return v, err
	}
	id, numbered := c.nodes.id(node)
	before, known := c.answers.about(hook, id)
	if !known {
		p.answers.metrics.asked.Inc()
	}
	switch {
	case !numbered || !worthKeeping(hook, v):
	case known:
		p.compare(c, hook, node.Name, before, v, true)
	default:
		c.answers.keep(hook, id, c.nodes.size, v)
	}
	return v, nil
}

// worthKeeping reports whether a verdict may be remembered. An Error may be gone at the
// next try, and so may a code that the scheduler takes for an Error, or retries.
// OutOfReasons is not the guest's reason.
func worthKeeping(hook abi.Hook, v abi.Verdict) bool {
	switch fwk.Code(v.Code) {
	case fwk.Success, fwk.Unschedulable, fwk.UnschedulableAndUnresolvable:
		return v.Reason() != abi.OutOfReasons
	case fwk.Skip:
		return hook == abi.PreFilter
	}
	return false
}

// compare compares what a guest answers with what it has answered before. If the two
// differ, nothing more is remembered of this guest until the next start.
func (p *plugin) compare(c *cycle, hook abi.Hook, node string, before, now abi.Verdict, sameNames bool) {
	p.answers.doubted()
	p.answers.metrics.doubted.Inc()
	if sameNames && keyOf(before) == keyOf(now) || !p.answers.stop() {
		return
	}
	p.answers.metrics.broken.Inc()
	klog.FromContext(p.ctx).Error(nil, "The Wasm guest decides by more than it declares: nothing is remembered of it until the next start",
		"plugin", p.name, "guest", p.url, "export", hook.String(), "pod", klog.KObj(c.pod), "node", node,
		"remembered", inWords(before), "asked again", inWords(now), "declared", p.decidesBy.String())
}
