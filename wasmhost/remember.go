package wasmhost

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// forgetful says why the host remembers nothing of what a guest answers, or
// nothing if it does: the guest declares what it decides by, and has no part in
// anything else.
func forgetful(guest *abi.Guest) (why string) {
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
	asked, err := p.preFilter(c)
	if err != nil {
		return preFilterAnswer{}, err
	}
	a := preFilterAnswer{answer: asked}
	if len(asked.out.NodeNames) > 0 {
		a.result = &fwk.PreFilterResult{NodeNames: sets.New(asked.out.NodeNames...)}
	}
	if c.answers == nil {
		return a, nil
	}
	if known == nil {
		p.answers.metrics.asked.Inc()
	}
	switch {
	case !worthKeeping(abi.PreFilter, asked.verdict()):
	case known == nil:
		c.answers.keepPreFilter(&a)
	default:
		p.compare(c, abi.PreFilter, nil, known.verdict(), asked.verdict(), sameNodes(known.result, a.result))
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

func (a answer) verdict() verdict { return verdict{a.value, a.out.Reasons} }

// worthKeeping reports whether a verdict is one that may be remembered. An Error
// may be gone at the next try, and so may what the scheduler makes an Error of, or
// retries by itself. A reason that gave way to others is not the guest's.
func worthKeeping(hook abi.Hook, v verdict) bool {
	if len(v.reasons) > 0 && v.reasons[0] == abi.OutOfReasons {
		return false
	}
	switch statusOf(hook, int32(v.value), v.reasons).Code() {
	case fwk.Success, fwk.Unschedulable, fwk.UnschedulableAndUnresolvable:
		return true
	case fwk.Skip:
		return hook == abi.PreFilter
	}
	return false
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
		c.answers.keep(of, id, len(c.nodes.ids), v)
	}
}

// compare holds what a guest answers against what it has answered before. One
// that breaks its promise is not trusted with another until the next start.
func (p *plugin) compare(c *cycle, hook abi.Hook, node *v1.Node, before, now verdict, sameNames bool) {
	p.answers.doubted()
	p.answers.metrics.doubted.Inc()
	if sameNames && before.key() == now.key() {
		return
	}
	if !p.answers.stop() {
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

// narrow limits a cycle to the nodes that the guest lets the pod run on, where it
// is known which these are. result is what the guest has said itself.
func (p *plugin) narrow(c *cycle, result *fwk.PreFilterResult) (*fwk.PreFilterResult, *fwk.Status) {
	if c.answers == nil || !p.active.Has(abi.Filter) || len(c.nodes.listed) == 0 {
		return result, nil
	}
	passing := c.answers.passingOf(c.nodes)
	known := passing != nil
	if !known {
		p.askAboutUnknown(c)
		passing = c.answers.passingOf(c.nodes)
	}
	if passing != nil && known {
		p.doubtRejected(c, passing)
	}
	switch {
	case passing == nil || p.answers.off.Load():
		return result, nil
	case passing.nodes == 0:
		c.turnedDown = true
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, passing.rejected)
	case passing.result == nil:
		return result, nil
	}
	c.leftOut = passing.rejected
	if result.AllNodes() {
		return passing.result, nil
	}
	return result.Merge(passing.result), nil
}

// doubtRejected asks about one of the nodes that are left out, about as often as it
// would be if each was: no Filter is called for them. A pod that is turned down has
// no other way to find out.
func (p *plugin) doubtRejected(c *cycle, passing *passingNodes) {
	left := len(c.nodes.listed) - passing.nodes
	switch {
	case left == 0 || passing.nodes > 0 && passing.result == nil: // each has its Filter
		return
	case passing.nodes == 0 && !p.answers.mayDoubt(), passing.nodes > 0 && !p.answers.doubtOneOf(left):
		return
	}
	for i, from := 0, rand.IntN(len(c.nodes.listed)); i < len(c.nodes.listed); i++ {
		at := (from + i) % len(c.nodes.listed)
		if v, _ := c.answers.about(&c.answers.filter, c.nodes.listed[at]); !v.passes() {
			p.filter(c, c.nodes.nodes[at])
			return
		}
	}
}

// few is about how many nodes a guest may be asked in PreFilter, one by one.
const few = 16

// askAboutUnknown asks a guest about the nodes of a cycle on which it has given no
// verdict yet. Where these are many, the scheduler asks about as many as it needs
// to, and the others are asked about beside it when a second pod like this comes.
func (p *plugin) askAboutUnknown(c *cycle) {
	unknown := c.answers.unknown(c.nodes)
	switch {
	case p.guest.FiltersNames() && named(p.decidesBy.Node):
		p.filterNames(c, unknown)
	case len(unknown) <= few:
		for _, i := range unknown {
			if p.filter(c, c.nodes.nodes[i]).Code() == fwk.Error {
				return
			}
		}
	case c.answers.again.Swap(true):
		p.askBeside(c, unknown)
	}
}

// filterNames asks a guest about many nodes at once, by their places.
func (p *plugin) filterNames(c *cycle, places []int) {
	s, err := p.enter(c, false)
	if err != nil {
		return // whatever is asked next for the pod says so
	}
	defer p.pool.unlock(s)
	places = slices.DeleteFunc(places, func(i int) bool { return len(c.nodes.nodes[i].Name) > abi.MaxName })
	until := time.Now().Add(cmp.Or(p.args.callTimeout(), DefaultCallTimeout)) // all together
	c.answers.room(&c.answers.filter, int32(len(c.nodes.ids)-1), len(c.nodes.ids))
	names := make([]string, 0, len(places))
	for range maxReasons {
		if places = p.filterEach(s, c, places, names, until); len(places) == 0 {
			return
		}
	}
}

// maxReasons is for how many different reasons many nodes are asked about at once.
const maxReasons = 8

// filterEach asks about all places once, as long as there is time, and returns
// those that another reason is due for. The names have room for theirs.
func (p *plugin) filterEach(s *slot, c *cycle, places []int, names []string, until time.Time) (unanswered []int) {
	for _, i := range places {
		names = append(names, c.nodes.nodes[i].Name)
	}
	for len(names) > 0 && time.Now().Before(until) {
		codes, err := s.instance.FilterNames(names)
		if err != nil {
			_ = p.lose(s, c, abi.Filter, err)
			return nil
		}
		unanswered = append(unanswered, p.learnCodes(c, places, codes, s.instance.Out().Reasons)...)
		names, places = names[len(codes):], places[len(codes):]
	}
	return unanswered
}

// learnCodes remembers what a guest has answered about many nodes at once, and
// returns those about which it has not.
func (p *plugin) learnCodes(c *cycle, places []int, codes []byte, reasons []string) (unanswered []int) {
	var numbers [256]uint16 // of the verdicts, by their codes
	var known [256]bool
	for i, code := range codes {
		if code == abi.Unanswered {
			unanswered = append(unanswered, places[i])
			continue
		}
		if !known[code] {
			known[code] = true
			v := verdict{value: uint64(code)}
			if code != byte(fwk.Success) {
				v.reasons = reasons
			}
			if worthKeeping(abi.Filter, v) {
				numbers[code] = c.answers.number(v)
			}
		}
		if numbers[code] != 0 {
			c.answers.filter.set(c.nodes.listed[places[i]], numbers[code])
		}
	}
	p.answers.metrics.asked.Add(float64(len(codes) - len(unanswered)))
	return unanswered
}

// askBeside asks a guest about nodes beside the scheduling cycles, of one kind of
// pods at a time.
func (p *plugin) askBeside(in *cycle, places []int) {
	if !p.asking.CompareAndSwap(false, true) {
		return
	}
	c := p.apart(in.pod)
	c.answers, c.nodes = in.answers, in.nodes
	go func() {
		defer p.asking.Store(false)
		for _, i := range places {
			if p.answers.off.Load() || p.filterApart(c, c.nodes.nodes[i]).Code() == fwk.Error {
				return
			}
		}
	}()
}

// apart makes a cycle for questions that no scheduling cycle asks.
func (p *plugin) apart(pod *v1.Pod) *cycle {
	c := &cycle{pass: &pass{pod: pod}}
	c.message = podMessage{pod, &p.encoder}
	c.binding.Store(true)
	return c
}

// filterApart asks about a node, of which the guest sees what the answer is
// remembered for.
func (p *plugin) filterApart(c *cycle, node *v1.Node) *fwk.Status {
	c.apart = given{p.beside, node}
	return p.filter(c, node)
}

// given is a scheduler in which a node is as it is given.
type given struct {
	abi.Scheduler
	node *v1.Node
}

// Node implements abi.Scheduler.
func (g given) Node(name string) abi.Message {
	if name == g.node.Name {
		return g.node
	}
	return g.Scheduler.Node(name)
}

// rejects reports whether a guest keeps a pod from a node, as far as can be known
// without an error. It is for events, outside of the scheduling cycles.
//
// The scheduler's queue waits for each answer, and there may be one for each pod:
// after a call that has failed, none is made for a while.
func (p *plugin) rejects(pod *v1.Pod, node *v1.Node) (rejects bool) {
	if time.Since(time.Unix(0, p.failedApart.Load())) < afterFailure {
		return false
	}
	c := p.apart(pod)
	if c.answers, c.nodes = p.answers.of(pod, nil); c.answers == nil {
		return false
	}
	c.apart = given{p.beside, node}
	if p.active.Has(abi.PreFilter) {
		a, err := p.recallPreFilter(c, p.answers.doubt())
		switch code := fwk.Code(a.value); {
		case err != nil:
			p.failedApart.Store(time.Now().UnixNano())
			return false
		case code == fwk.Skip || code == fwk.Error:
			return false
		case code != fwk.Success:
			return true
		case a.result != nil && !a.result.NodeNames.Has(node.Name):
			return true
		}
	}
	if !p.active.Has(abi.Filter) {
		return p.constant(abi.Filter).IsRejected()
	}
	return p.rejectsNode(c, node)
}

// afterFailure is how long nothing is asked for events after a call has failed.
const afterFailure = 10 * time.Second

// rejectsNode is rejects by Filter alone. A node that is new is in no table yet,
// and many pods ask about it one after another.
func (p *plugin) rejectsNode(c *cycle, node *v1.Node) bool {
	if v, known := p.recall(c, &c.answers.filter, node); known {
		return !v.passes()
	}
	key := string(appendValues(nil, p.decidesBy.Node, &node.ObjectMeta))
	if latest := c.answers.latest.Load(); latest != nil && latest.key == key {
		return latest.rejected
	}
	status := p.filterApart(c, node)
	if status.Code() == fwk.Error {
		p.failedApart.Store(time.Now().UnixNano())
	} else if len(key) <= maxLatest {
		c.answers.latest.Store(&latestNode{key, status.IsRejected()})
	}
	return status.IsRejected()
}

// maxLatest bounds what is kept of the fields of a node, in bytes.
const maxLatest = 1 << 10
