package wasmhost

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
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

// named takes the nodes that PreFilter names.
func named(a *answers.PreFilter) func(*instance, *abi.Out) {
	return func(_ *instance, out *abi.Out) {
		if len(out.NodeNames) > 0 {
			a.Result = &fwk.PreFilterResult{NodeNames: sets.New(out.NodeNames...)}
		}
	}
}

// recallPreFilter remembers what a guest answers to PreFilter, or asks.
func (c *cycle) recallPreFilter() (answers.PreFilter, error) {
	if c.known != nil {
		if known := c.known.PreFilter(); known != nil {
			if c.mayRecheck() {
				return c.recheck(abi.PreFilter, "", *known), nil
			}
			c.plugin.metrics.recalled.Add(1)
			return *known, nil
		}
	}
	var a answers.PreFilter
	v, err := c.ask(abi.PreFilter, abi.In{}, named(&a))
	a.Verdict = v
	if err != nil || c.known == nil {
		return a, err
	}
	c.plugin.metrics.asked.Inc()
	if worthKeeping(abi.PreFilter, v) {
		c.known.PutPreFilter(&a)
	}
	return a, nil
}

// recallPreScore remembers what a guest answers to PreScore, or asks. It remembers nothing
// of a guest that may ask which nodes passed, since these are no field of the pod.
func (c *cycle) recallPreScore(nodes []fwk.NodeInfo) (abi.Verdict, error) {
	if c.known == nil || c.plugin.answers.Off() || c.plugin.guest.AsksWhoPassed {
		return c.askPreScore(nodes)
	}
	switch known := c.known.PreScore(); {
	case known == nil:
		v, err := c.askPreScore(nodes)
		if err != nil {
			return v, err
		}
		c.plugin.metrics.asked.Inc()
		if worthKeeping(abi.PreScore, v) {
			c.known.PutPreScore(&v)
		}
		return v, nil
	case c.mayRecheck():
		c.scored.Store(&nodes)
		return c.recheck(abi.PreScore, "", answers.PreFilter{Verdict: *known}).Verdict, nil
	default:
		c.scored.Store(&nodes)
		c.plugin.metrics.recalled.Add(1)
		return *known, nil
	}
}

func (c *cycle) askPreScore(nodes []fwk.NodeInfo) (abi.Verdict, error) {
	in := abi.In{FilteredNodes: func() any { return namesOf(nodes) }}
	return c.ask(abi.PreScore, in, func(i *instance, _ *abi.Out) {
		i.seen.scored = &nodes
		c.scored.Store(&nodes)
	})
}

// recall remembers what a guest answers to Filter or Score about a node, or asks.
func (c *cycle) recall(hook abi.Hook, node fwk.NodeInfo) (abi.Verdict, error) {
	if c.known == nil || c.plugin.answers.Off() {
		return c.ask(hook, abi.In{NodeName: node.Node().Name}, nil)
	}
	number := c.known.Number(node)
	v, known := c.known.Get(hook, number)
	switch {
	case !known:
		return c.learn(hook, node.Node().Name, number)
	case c.mayRecheck():
		return c.recheck(hook, node.Node().Name, answers.PreFilter{Verdict: v}).Verdict, nil
	}
	c.plugin.metrics.recalled.Add(1)
	return v, nil
}

// mayRecheck is true where an answer is one of those that are asked for again.
func (c *cycle) mayRecheck() bool { return c.plugin.answers.Recheck(1) && c.known.MayRecheck() }

// learn asks a guest about a node, and remembers the answer by the node's number.
func (c *cycle) learn(hook abi.Hook, name string, node answers.Node) (abi.Verdict, error) {
	v, err := c.ask(hook, abi.In{NodeName: name}, nil)
	if err != nil {
		return v, err
	}
	c.plugin.metrics.asked.Inc()
	if worthKeeping(hook, v) {
		c.known.Put(hook, map[answers.Node]abi.Verdict{node: v})
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
		return hook == abi.PreFilter || hook == abi.PreScore
	}
	return false
}

// recheck asks a guest again what it has answered about a pod like this one. Nothing else
// would show that it decides by more than it declares: then nothing more is remembered of
// it until the next start.
//
// The pod keeps the remembered answer where a recheck fails. A call that is interrupted
// shows nothing, since the machine may be too busy: pods like this one are not rechecked
// any more. A trap shows something if a fresh instance traps, too: the first one may have
// run out of memory.
func (c *cycle) recheck(hook abi.Hook, node string, remembered answers.PreFilter) answers.PreFilter {
	c.plugin.metrics.rechecked.Inc()
	ask := func() (a answers.PreFilter, err error) {
		a.Verdict, err = c.try(hook, abi.In{NodeName: node}, named(&a))
		return a, err
	}
	again, err := ask()
	if errors.As(err, &trapped{}) {
		again, err = ask()
	}
	switch {
	case err == nil && (again.Same(remembered) || again.Reason() == abi.OutOfReasons):
	case err == nil:
		c.violated(hook, node, remembered, inWords(again.Verdict))
		return again
	case errors.As(err, &trapped{}):
		c.violated(hook, node, remembered, err.Error())
	default:
		c.known.NoRecheck()
	}
	return remembered
}

// violated ends what is remembered of a guest that has answered the same question in two
// ways.
func (c *cycle) violated(hook abi.Hook, node string, remembered answers.PreFilter, again string) {
	if !c.plugin.answers.Stop() {
		return
	}
	c.plugin.metrics.violations.Inc()
	klog.FromContext(c.plugin.ctx).Error(nil, "The Wasm guest decides by more than it declares: nothing is remembered of it until the next start",
		"plugin", c.plugin.name, "guest", c.plugin.url, "export", hook.String(), "pod", klog.KObj(c.pod), "node", node,
		"remembered", inWords(remembered.Verdict), "asked again", again, "declared", c.plugin.decidesBy.String())
}

// inWords is a verdict as it is logged.
func inWords(v abi.Verdict) string {
	return fmt.Sprintf("%s, %d, %q", fwk.Code(v.Code), v.Number, v.Reason())
}
