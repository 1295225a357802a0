package wasmhost

import (
	"errors"
	"time"

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

// answer is what a hook answered, with the nodes that it named if it is PreFilter.
type answer struct {
	abi.Verdict
	result *fwk.PreFilterResult
}

// same reports whether two answers say the same, in whatever order they name nodes.
func (a answer) same(b answer) bool {
	if keyOf(a.Verdict) != keyOf(b.Verdict) || a.result.AllNodes() != b.result.AllNodes() {
		return false
	}
	return a.result.AllNodes() || a.result.NodeNames.Equal(b.result.NodeNames)
}

// named takes the nodes that PreFilter names.
func (a *answer) named(_ *instance, out *abi.Out) {
	if len(out.NodeNames) > 0 {
		a.result = &fwk.PreFilterResult{NodeNames: sets.New(out.NodeNames...)}
	}
}

// recallPreFilter remembers what a guest answers to PreFilter, or asks.
func (p *plugin) recallPreFilter(c *cycle) (answer, error) {
	var known *answer
	if c.answers != nil {
		known = c.answers.preFilter.Load()
	}
	if known != nil {
		if p.answers.recheckOneOf(1) {
			return p.recheck(c, abi.PreFilter, "", *known), nil
		}
		p.answers.metrics.recall()
		return *known, nil
	}
	var a answer
	v, err := p.ask(c, abi.PreFilter, abi.In{}, a.named)
	a.Verdict = v
	if err != nil || c.answers == nil {
		return a, err
	}
	p.answers.metrics.asked.Inc()
	if worthKeeping(abi.PreFilter, v) {
		c.answers.keepPreFilter(&a)
	}
	return a, nil
}

// recall remembers what a guest answers to Filter or Score about a node, or asks.
func (p *plugin) recall(c *cycle, hook abi.Hook, node fwk.NodeInfo) (abi.Verdict, error) {
	id := int32(unnumbered)
	if c.answers != nil && !p.answers.off.Load() {
		id = c.nodes.id(node)
		if v, known := c.answers.about(hook, id); known {
			if p.answers.recheckOneOf(1) {
				return p.recheck(c, hook, node.Node().Name, answer{Verdict: v}).Verdict, nil
			}
			p.answers.metrics.recall()
			return v, nil
		}
	}
	return p.learn(c, hook, node.Node().Name, id)
}

// learn asks a guest about a node, and remembers the answer by the node's number.
func (p *plugin) learn(c *cycle, hook abi.Hook, node string, id int32) (abi.Verdict, error) {
	v, err := p.ask(c, hook, abi.In{NodeName: node}, nil)
	if err != nil || c.answers == nil {
		return v, err
	}
	p.answers.metrics.asked.Inc()
	if id != unnumbered && worthKeeping(hook, v) {
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

// recheck asks a guest again what it has answered about a pod like this one. Nothing else
// would show that it decides by more than it declares: then nothing more is remembered of
// it until the next start.
//
// The pod keeps the remembered answer where a recheck fails. A call that is interrupted
// shows nothing, since the machine may be too busy. A trap shows something if a fresh
// instance traps, too: the first one may have run out of memory.
func (p *plugin) recheck(c *cycle, hook abi.Hook, node string, remembered answer) answer {
	began := time.Now()
	defer func() { p.answers.rest(time.Since(began)) }()
	p.answers.metrics.doubted.Inc()
	ask := func() (a answer, err error) {
		a.Verdict, err = p.try(c, hook, abi.In{NodeName: node}, a.named)
		return a, err
	}
	again, err := ask()
	if errors.As(err, &trapped{}) {
		again, err = ask()
	}
	switch {
	case err == nil && (again.same(remembered) || again.Reason() == abi.OutOfReasons):
		return remembered
	case err == nil:
		p.violated(c, hook, node, remembered, inWords(again.Verdict))
		return again
	case errors.As(err, &trapped{}):
		p.violated(c, hook, node, remembered, err.Error())
	}
	return remembered
}

// violated ends what is remembered of a guest that has answered the same question in two
// ways.
func (p *plugin) violated(c *cycle, hook abi.Hook, node string, remembered answer, again string) {
	if !p.answers.stop() {
		return
	}
	p.answers.metrics.broken.Inc()
	klog.FromContext(p.ctx).Error(nil, "The Wasm guest decides by more than it declares: nothing is remembered of it until the next start",
		"plugin", p.name, "guest", p.url, "export", hook.String(), "pod", klog.KObj(c.pod), "node", node,
		"remembered", inWords(remembered.Verdict), "asked again", again, "declared", p.decidesBy.String())
}
