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
	active := guest.Active()
	switch {
	case !guest.Declares():
		return "the guest does not declare what it decides by"
	case active.Has(bindingCycle...):
		return "the guest takes part in reserve, permit or binding"
	case active.Has(abi.AddPod, abi.RemovePod):
		return "the guest keeps account of pods that are added and removed"
	case guest.UsesHandle():
		return "the guest acts on the scheduler through its handle"
	}
	return ""
}

// recallPreFilter asks what a guest answers to PreFilter, or remembers it, unless
// that is doubted.
func (p *plugin) recallPreFilter(c *cycle, doubted bool) (preFilterAnswer, error) {
	var known *preFilterAnswer
	if c.answers != nil {
		known = c.answers.preFilter.Load()
	}
	if known != nil && !doubted {
		p.answers.metrics.recall()
		return *known, nil
	}
	out, err := p.ask(c, abi.PreFilter, abi.In{}, nil)
	if err != nil {
		return preFilterAnswer{}, err
	}
	a := preFilterAnswer{Out: out}
	if len(out.NodeNames) > 0 {
		a.result = &fwk.PreFilterResult{NodeNames: sets.New(out.NodeNames...)}
	}
	if c.answers == nil {
		return a, nil
	}
	if known == nil {
		p.answers.metrics.asked.Inc()
	}
	switch now := verdictOf(out); {
	case !worthKeeping(abi.PreFilter, now):
	case known == nil:
		c.answers.keepPreFilter(&a)
	default:
		p.compare(c, abi.PreFilter, nil, verdictOf(known.Out), now, sameNodes(known.result, a.result))
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

// recallFilter asks what a guest answers to Filter, or remembers it.
func (p *plugin) recallFilter(c *cycle, node *v1.Node) *fwk.Status {
	if c.answers != nil {
		if v, known := p.recall(c, &c.answers.filter, node); known {
			return statusOf(abi.Filter, v.code, v.reasons)
		}
	}
	return p.filter(c, node)
}

// filter asks the guest.
func (p *plugin) filter(c *cycle, node *v1.Node) *fwk.Status {
	s, err := p.enter(c, abi.Filter)
	if err != nil {
		return p.failed(abi.Filter, err)
	}
	var v verdict
	out, err := p.call(s, c, abi.Filter, abi.In{NodeName: node.Name})
	if err == nil {
		v = verdictOf(*out)
	}
	p.pool.unlock(s)
	if err != nil {
		return p.failed(abi.Filter, err)
	}
	if c.answers != nil {
		p.learn(c, abi.Filter, &c.answers.filter, node, v)
	}
	return statusOf(abi.Filter, v.code, v.reasons)
}

// recallScore asks what a guest answers to Score, or remembers it.
func (p *plugin) recallScore(c *cycle, node *v1.Node) (abi.Out, error) {
	if c.answers != nil {
		if v, known := p.recall(c, &c.answers.score, node); known {
			return abi.Out{Code: v.code, Number: v.number, Reasons: v.reasons}, nil
		}
	}
	out, err := p.ask(c, abi.Score, abi.In{NodeName: node.Name}, nil)
	if err == nil && c.answers != nil {
		p.learn(c, abi.Score, &c.answers.score, node, verdictOf(out))
	}
	return out, err
}

// recall finds what a guest has answered about a node, unless that is doubted.
func (p *plugin) recall(c *cycle, of *column, node *v1.Node) (v verdict, known bool) {
	id, numbered := c.nodes.id(node)
	if !numbered || p.answers.off.Load() {
		return verdict{}, false
	}
	if v, known = c.answers.about(of, id); !known || p.answers.doubt() {
		return verdict{}, false
	}
	p.answers.metrics.recall()
	return v, true
}

// learn remembers what a guest has answered about a node.
func (p *plugin) learn(c *cycle, hook abi.Hook, of *column, node *v1.Node, v verdict) {
	id, numbered := c.nodes.id(node)
	before, known := c.answers.about(of, id)
	if !known {
		p.answers.metrics.asked.Inc()
	}
	switch {
	case !numbered || !worthKeeping(hook, v):
	case known:
		p.compare(c, hook, node, before, v, true)
	default:
		c.answers.keep(of, id, c.nodes.size, v)
	}
}

// worthKeeping reports whether a verdict may be remembered. An Error may be gone at the
// next try, and so may a code that the scheduler takes for an Error, or retries.
// OutOfReasons is not the guest's reason.
func worthKeeping(hook abi.Hook, v verdict) bool {
	switch fwk.Code(v.code) {
	case fwk.Success, fwk.Unschedulable, fwk.UnschedulableAndUnresolvable:
		return v.reason() != abi.OutOfReasons
	case fwk.Skip:
		return hook == abi.PreFilter
	}
	return false
}

// compare compares what a guest answers with what it has answered before. If the two
// differ, nothing more is remembered of this guest until the next start.
func (p *plugin) compare(c *cycle, hook abi.Hook, node *v1.Node, before, now verdict, sameNames bool) {
	p.answers.doubted()
	p.answers.metrics.doubted.Inc()
	if sameNames && before.key() == now.key() || !p.answers.stop() {
		return
	}
	p.answers.metrics.broken.Inc()
	name := ""
	if node != nil {
		name = node.Name
	}
	klog.FromContext(p.ctx).Error(nil, "The Wasm guest decides by more than it declares: nothing is remembered of it until the next start",
		"plugin", p.name, "guest", p.url, "export", hook.String(), "pod", klog.KObj(c.pod), "node", name,
		"remembered", before.String(), "asked again", now.String(), "declared", p.decidesBy.String())
}
