package wasmhost

import (
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// instance is an instance of a guest, and what the host knows of it.
type instance struct {
	*abi.Instance
	seen   seen
	memory uint32       // as the metrics have it, in bytes
	shown  declaredNode // during a call
}

// slot is a place for an instance. The goroutine that has locked it may call the
// instance, make one if there is none, and drop it.
type slot struct {
	pool     *pool
	instance *instance
	lost     bool        // the last instance has trapped
	bound    *sync.Mutex // of a pod's own slot; nil for one that is in the pool
	counted  int64       // in the pool's boundMemory
}

// provide sees to it that there is an instance.
func (s *slot) provide() error {
	p := s.pool
	if s.instance != nil && !s.instance.Interrupted() { // as one can be whose long call has just ended
		return nil
	}
	s.drop()
	if p.closed.Load() {
		return errClosed
	}
	if s.instance = p.takeSpare(); s.instance != nil {
		return nil
	}
	began := time.Now()
	started, err := p.guest.Start(p.ctx, p.settings)
	if err != nil {
		return err
	}
	s.instance = &instance{Instance: started}
	p.watchdog.running.Store(s.instance, &seenCall{})
	instances.WithLabelValues(p.name).Inc()
	p.countMemory(s.instance)
	if p.closed.Load() { // end may have looked before the instance was there
		s.drop()
		return errClosed
	}
	if s.lost {
		s.lost = false
		replacements.WithLabelValues(p.name).Inc()
		klog.FromContext(p.ctx).Info("Replaced the Wasm guest", "plugin", p.name, "guest", p.url, "took", time.Since(began))
	}
	return nil
}

// drop closes the instance.
func (s *slot) drop() {
	s.pool.closeInstance(s.instance)
	s.instance = nil
}

// ready brings the instance of a locked slot to where a cycle is. It repeats what
// the instance has not seen: PreFilter, the changes, and PreScore before scores.
func (s *slot) ready(c *cycle, hook abi.Hook) error {
	if err := s.provide(); err != nil {
		return err
	}
	i := s.instance
	if hook == abi.PreFilter {
		i.seen = seen{pass: c.pass}
		return nil
	}
	if i.seen.pass != c.pass || len(i.seen.changes)+len(c.changes) > 0 || i.seen.otherScored(c) {
		if err := s.catchUp(c); err != nil {
			return err
		}
	}
	nodes := c.scored.Load()
	if hook != abi.Score && hook != abi.NormalizeScore || i.seen.scored != nil || nodes == nil || !s.pool.guest.Active.Has(abi.PreScore) {
		return nil
	}
	i.seen.scored = nodes
	return s.repeat(c, abi.PreScore, abi.In{FilteredNodes: func() any { return namesOf(*nodes) }})
}

func (s *slot) catchUp(c *cycle) error {
	i := s.instance
	missing, ok := i.seen.missing(c)
	if !ok {
		i.seen, missing = seen{pass: c.pass}, c.changes
		if s.pool.guest.Active.Has(abi.PreFilter) {
			if err := s.repeat(c, abi.PreFilter, abi.In{}); err != nil {
				return err
			}
		}
	}
	for _, change := range missing {
		if err := s.repeat(c, change.hook, abi.In{Target: change.target, NodeName: change.node}); err != nil {
			return err
		}
		i.seen.changes = append(i.seen.changes, change)
	}
	return nil
}

// repeat drops results, logs and events: they were taken where the call was made
// first.
func (s *slot) repeat(c *cycle, hook abi.Hook, in abi.In) error {
	i := s.instance
	i.Quiet = true
	defer func() { i.Quiet = false }()
	_, err := s.call(c, hook, in)
	return err
}

// call calls a hook of the instance in a locked slot.
func (s *slot) call(c *cycle, hook abi.Hook, in abi.In) (*abi.Out, error) {
	s.instance.In = c.complete(in, s.instance)
	before := s.pool.watchdog.looks.Load()
	out, err := s.instance.Call(hook)
	s.instance.In = abi.In{} // so that it keeps no node alive
	s.instance.shown.node = nil
	c.time.add(before, s.pool.watchdog.looks.Load())
	if err != nil {
		return nil, s.lose(c, hook, err)
	}
	return out, nil
}

// complete adds what a guest may ask in every call of a cycle.
func (c *cycle) complete(in abi.In, i *instance) abi.In {
	in.Pod = c.pass
	in.Account = &c.account
	switch {
	case c.plugin.answers != nil:
		in.Scheduler = nothingElse{}
		if node, ok := in.Node.(*v1.Node); ok {
			i.shown = declaredNode{c.plugin.decidesBy.Node, node}
			in.Node = &i.shown
			in.NodeName = i.shown.name()
		}
	case c.binding.Load():
		in.Scheduler = c.plugin.bindingView
	default:
		in.Scheduler = c.plugin.cycleView
	}
	return in
}

// onNode is for a call about a node.
func onNode(node *v1.Node) abi.In { return abi.In{Node: node, NodeName: node.Name} }

// trapped is the error of a call that was not interrupted: the guest itself failed.
type trapped struct{ error }

func (t trapped) Unwrap() error { return t.error }

// lose is for a call that failed. The slot is without an instance afterwards.
func (s *slot) lose(c *cycle, hook abi.Hook, err error) error {
	if !s.instance.Interrupted() {
		err = trapped{err}
	}
	s.drop()
	s.lost = true
	traps.WithLabelValues(s.pool.name).Inc()
	klog.FromContext(s.pool.ctx).Error(err, "Wasm guest trapped: another takes its place", "plugin", s.pool.name, "guest", s.pool.url,
		"pod", klog.KObj(c.pod), "export", hook.String())
	return err
}
