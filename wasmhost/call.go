package wasmhost

import (
	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// enter locks a slot for a call in a cycle, whose instance has seen all of it.
// scoring is true of calls that come after PreScore.
func (p *plugin) enter(c *cycle, scoring bool) (*slot, error) {
	s := p.slotOf(c)
	err := c.failed() // perhaps while this call waited
	if err == nil {
		err = p.ready(s, c, scoring)
	}
	if err != nil {
		p.pool.unlock(s)
		return nil, err
	}
	return s, nil
}

// slotOf locks the slot of a pod that has one, or any.
func (p *plugin) slotOf(c *cycle) *slot {
	if p.sharing == perPod {
		if s := p.pool.boundTo(c.pod.UID); s != nil {
			return s
		}
	}
	return p.pool.lock()
}

// ready brings the instance of a locked slot to where a cycle is.
func (p *plugin) ready(s *slot, c *cycle, scoring bool) error {
	if err := p.provide(s); err != nil {
		return err
	}
	if i := s.instance; i.seen.pass != c.pass || len(i.seen.changes)+len(c.changes) > 0 {
		if err := p.catchUp(s, c); err != nil {
			return err
		}
	}
	if scoring && !s.instance.seen.prescore {
		return p.repeatPreScore(s, c)
	}
	return nil
}

// catchUp repeats for an instance what it has not seen of a cycle. Results, logs
// and events are dropped: they were taken where the calls were made first.
func (p *plugin) catchUp(s *slot, c *cycle) error {
	i := s.instance
	missing, ok := i.seen.missing(c)
	if !ok {
		p.show(i, c)
		missing = c.changes
		if p.active.Has(abi.PreFilter) {
			if err := p.repeat(s, c, abi.PreFilter); err != nil {
				return err
			}
		}
	}
	for _, change := range missing {
		i.In.Target, i.In.NodeName = change.target, change.node
		if err := p.repeat(s, c, change.hook); err != nil {
			return err
		}
		i.seen.changes = append(i.seen.changes, change)
	}
	return nil
}

// show makes a cycle the one that an instance is asked about.
func (p *plugin) show(i *instance, c *cycle) {
	i.seen = seen{pass: c.pass}
	p.blank(i, c)
}

// blank forgets what a guest could ask in the last call alone.
func (p *plugin) blank(i *instance, c *cycle) {
	i.In = abi.In{Scheduler: p.schedulerOf(c), Pod: &c.message, Account: &c.account}
}

func (p *plugin) schedulerOf(c *cycle) abi.Scheduler {
	if c.binding.Load() {
		return p.beside
	}
	return p.scheduler
}

func (p *plugin) repeatPreScore(s *slot, c *cycle) error {
	nodes := c.scored.Load()
	if nodes == nil || !p.active.Has(abi.PreScore) {
		return nil
	}
	i := s.instance
	i.In.NodeName, i.In.FilteredNodes = "", func() []string { return namesOf(*nodes) }
	if err := p.repeat(s, c, abi.PreScore); err != nil {
		return err
	}
	i.seen.prescore = true
	return nil
}

func (p *plugin) repeat(s *slot, c *cycle, hook abi.Hook) error {
	i := s.instance
	i.Quiet = true
	_, err := p.call(s, c, hook)
	i.Quiet = false
	p.blank(i, c)
	return err
}

// call calls a hook of the instance in a locked slot. If it traps, the slot is
// without an instance afterwards, and the pod's pass has failed.
func (p *plugin) call(s *slot, c *cycle, hook abi.Hook) (uint64, error) {
	value, err := s.instance.Call(hook)
	if err == nil {
		return value, nil
	}
	p.drop(s)
	s.lost = true
	p.metrics.traps.Inc()
	t := &trapped{lineError{err}}
	klog.FromContext(p.ctx).Error(t.err, "Wasm guest trapped: another takes its place", "plugin", p.name, "guest", p.url,
		"pod", klog.KObj(c.pod), "export", hook.String())
	c.trapped.Store(t)
	return 0, t.err
}

// answer is what a guest said in a call.
type answer struct {
	value uint64
	out   abi.Out
}

// ask makes a call in a cycle that is not Filter. in has what the guest may ask
// beside the pod.
func (p *plugin) ask(c *cycle, hook abi.Hook, in abi.In) (answer, error) {
	if !p.active.Has(hook) {
		return answer{value: p.guest.Constant(hook)}, nil
	}
	s, err := p.enter(c, hook == abi.Score || hook == abi.NormalizeScore)
	if err != nil {
		return answer{}, err
	}
	defer p.pool.unlock(s)
	return p.askIn(s, c, hook, in)
}

// askIn is ask in a locked slot whose instance is ready.
func (p *plugin) askIn(s *slot, c *cycle, hook abi.Hook, in abi.In) (answer, error) {
	i := s.instance
	in.Scheduler, in.Pod, in.Account = p.schedulerOf(c), &c.message, &c.account
	i.In = in
	value, err := p.call(s, c, hook)
	if err != nil {
		return answer{}, err
	}
	p.blank(i, c)
	p.countMemory(i)
	return answer{value, *i.Out()}, nil
}
