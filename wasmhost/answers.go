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
// stale, as long as the guest decides by nothing else than it declares. A recheck finds a
// guest that does not.
type answerCache struct {
	fields  *abi.Fields
	limit   int64  // in bytes
	recheck uint32 // a random number up to this is a recheck
	metrics *answerMetrics

	// off is set for good when a guest has answered the same question in two ways.
	off atomic.Bool

	restUntil atomic.Int64 // there is no recheck before, in ns

	mu    sync.Mutex
	pods  map[string]*list.Element // of *podAnswers
	used  list.List                // the one that was used last is in front
	bytes int64

	ids    map[string]int32 // the numbers of nodes by their fields, with those of nodes that are gone
	table  *nodeTable
	nodes  []*v1.Node // that the table is of, where more than their names counts
	tables uint64     // how many there were
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
	c.table, c.nodes, c.ids = &nodeTable{}, nil, map[string]int32{}
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
		if nodes != nil && !c.tableIsOf(nodes) {
			c.renew(nodes)
		}
		return c.table
	})
}

// withNode is of, with the number of a node, which may be in no list yet.
func (c *answerCache) withNode(pod *v1.Pod, node *v1.Node) (a *podAnswers, t *nodeTable, id int32) {
	a, t = c.find(pod, func() *nodeTable {
		id = c.number(appendValues(nil, c.fields.Node, &node.ObjectMeta))
		return &nodeTable{size: len(c.ids)}
	})
	return a, t, id
}

// peek is withNode without making anything: the answers are nil where there are none.
func (c *answerCache) peek(pod *v1.Pod, node *v1.Node) (a *podAnswers, id int32) {
	var buffer [256]byte
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.pods[string(appendValues(buffer[:0], c.fields.Pod, &pod.ObjectMeta))]
	if !ok {
		return nil, unnumbered
	}
	if id, ok = c.ids[string(appendValues(buffer[:0], c.fields.Node, &node.ObjectMeta))]; !ok {
		id = unnumbered
	}
	return element.Value.(*podAnswers), id
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

// recheckOneOf is true as often as one of so many answers is to be asked for again.
func (c *answerCache) recheckOneOf(answers int) bool {
	return uint64(rand.Uint32()) <= uint64(c.recheck)*uint64(answers) && c.mayRecheck()
}

// mayRecheck is false for a while after a recheck, so that rechecks take at most a
// hundredth of the time, however slow the guest is. With RecheckEvery 1 it is always true.
func (c *answerCache) mayRecheck() bool {
	return c.recheck == math.MaxUint32 || time.Now().UnixNano() >= c.restUntil.Load()
}

// rest is for after a recheck that took so long, whether or not the guest has answered.
func (c *answerCache) rest(took time.Duration) {
	c.restUntil.Store(time.Now().Add(100 * took).UnixNano())
}
