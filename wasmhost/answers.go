package wasmhost

import (
	"container/list"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// answerCache keeps the answers of a guest that declares the fields it decides by.
// PreFilter's are kept by the values of the pod's fields, those of Filter and Score by
// these and the values of the node's fields. Errors are not kept. No answer can be
// stale, as long as the guest decides by nothing else than it declares. doubt finds a
// guest that does.
type answerCache struct {
	fields  *abi.Fields
	limit   int64  // in bytes
	recheck uint32 // a random number up to this is a doubt
	metrics *answerMetrics

	// off is set for good when a guest has answered the same question in two ways.
	off atomic.Bool

	askedAt, sureUntil atomic.Int64 // when the last doubt was, and until when there is none: in ns

	mu    sync.Mutex
	pods  map[string]*list.Element // of *podAnswers
	used  list.List                // the one that was used last is in front
	bytes int64

	ids    map[string]int32 // the numbers of nodes by their fields, with those of nodes that are gone
	table  *nodeTable
	tables uint64 // how many there were
}

// maxGone bounds the numbers of nodes that are gone: beyond it all begins anew.
const maxGone = 1000

func newAnswerCache(fields *abi.Fields, limit int64, recheck uint32, m *answerMetrics) *answerCache {
	c := &answerCache{fields: fields, limit: limit, recheck: math.MaxUint32 / recheck, metrics: m}
	c.clear()
	return c
}

// clear drops all answers. The cache must be locked.
func (c *answerCache) clear() {
	for element := c.used.Front(); element != nil; element = element.Next() {
		element.Value.(*podAnswers).dropped = true
	}
	c.pods, c.bytes = map[string]*list.Element{}, 0
	c.used.Init()
	c.table, c.ids = &nodeTable{}, map[string]int32{}
}

// stop ends the cache for good, and reports whether it was on.
func (c *answerCache) stop() bool {
	if !c.off.CompareAndSwap(false, true) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	c.metrics.size(0, 0)
	return true
}

// of finds the answers about pods like this one, and the table of the nodes of its
// cycle. Nil nodes are those of the last cycle.
func (c *answerCache) of(pod *v1.Pod, nodes []fwk.NodeInfo) (*podAnswers, *nodeTable) {
	return c.find(pod, func() *nodeTable {
		if nodes != nil && !c.table.isOf(nodes, c.fields.Node) {
			c.renew(nodes)
		}
		return c.table
	})
}

// withNode is of, with the table of one node, which may be in no list yet.
func (c *answerCache) withNode(pod *v1.Pod, node *v1.Node) (*podAnswers, *nodeTable) {
	return c.find(pod, func() *nodeTable {
		id := c.number(appendValues(nil, c.fields.Node, &node.ObjectMeta))
		return &nodeTable{at: map[*v1.Node]int32{node: id}, size: len(c.ids)}
	})
}

func (c *answerCache) find(pod *v1.Pod, numbered func() *nodeTable) (*podAnswers, *nodeTable) {
	if c == nil || c.off.Load() {
		return nil, nil
	}
	c.metrics.flush()
	var buffer [256]byte
	key := appendValues(buffer[:0], c.fields.Pod, &pod.ObjectMeta)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ids) > 2*len(c.table.list)+maxGone {
		c.clear()
	}
	table := numbered()
	if element, ok := c.pods[string(key)]; ok {
		c.used.MoveToFront(element)
		return element.Value.(*podAnswers), table
	}
	if int64(len(key)) > c.limit/4 {
		return nil, nil
	}
	a := &podAnswers{cache: c, key: string(key), numbers: map[verdictKey]uint16{}}
	c.pods[a.key] = c.used.PushFront(a)
	c.count(a, int64(len(key))+podBytes)
	return a, table
}

// What is remembered takes about so many bytes, beside texts that it alone has.
const (
	podBytes       = 450 // before there are any answers
	preFilterBytes = 200
	verdictBytes   = 150
	// A name in a set, what Go adds for the value that has no size, a byte of control,
	// and what the allocator rounds up.
	slotBytes = 16 + 8 + 1 + 2
)

// setBytes is about what a set of so many names takes beside their text: Go's maps
// have a power of two of slots, at most 7/8 of which are taken.
func setBytes(names int) int64 { return slotBytes << bits.Len(uint(names*8/7)) }

// grew says that the answers about a pod take more bytes.
func (c *answerCache) grew(a *podAnswers, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(a, bytes)
}

// count is grew with the cache locked. The answers that were not used for longest give
// way.
func (c *answerCache) count(a *podAnswers, bytes int64) {
	if a.dropped {
		return
	}
	a.bytes += bytes
	c.bytes += bytes
	for c.bytes > c.limit && c.used.Len() > 0 { // a itself may give way, too
		oldest := c.used.Remove(c.used.Back()).(*podAnswers)
		delete(c.pods, oldest.key)
		oldest.dropped = true
		c.bytes -= oldest.bytes
	}
	c.metrics.size(len(c.pods), c.bytes)
}

// doubt is true now and then: then the guest is asked again for an answer that is
// remembered. Nothing else would show that it decides by more than it declares.
func (c *answerCache) doubt() bool { return c.doubtOneOf(1) }

// doubtOneOf is true as often as one of so many answers would be doubted.
func (c *answerCache) doubtOneOf(answers int) bool {
	return uint64(rand.Uint32()) <= uint64(c.recheck)*uint64(answers) && c.mayDoubt()
}

// mayDoubt is false for a while after a doubt, so that doubts take at most a hundredth
// of the time, however slow the guest is. With RecheckEvery 1 it is always true.
func (c *answerCache) mayDoubt() bool {
	now := time.Now().UnixNano()
	if c.recheck != math.MaxUint32 && now < c.sureUntil.Load() {
		return false
	}
	c.askedAt.Store(now)
	return true
}

// doubted is called when the guest has answered.
func (c *answerCache) doubted() {
	now := time.Now().UnixNano()
	c.sureUntil.Store(now + 100*(now-c.askedAt.Load()))
}
