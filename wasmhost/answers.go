package wasmhost

import (
	"container/list"
	"fmt"
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
	nodeNumbers
}

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
			c.renew(nodes, c.fields.Node)
		}
		return c.table
	})
}

// withNode is of, with the table of one node, which may be in no list yet.
func (c *answerCache) withNode(pod *v1.Pod, node *v1.Node) (*podAnswers, *nodeTable) {
	return c.find(pod, func() *nodeTable { return c.tableOf(node, c.fields.Node) })
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
	stringBytes    = 16
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

// podAnswers are the answers about pods whose declared fields have the same
// values. Any number of goroutines reads them while others write.
type podAnswers struct {
	cache   *answerCache
	key     string
	bytes   int64 // as the cache has counted them, with which these two are locked
	dropped bool

	preFilter     atomic.Pointer[preFilterAnswer]
	filter, score column
	verdicts      atomic.Pointer[[]verdict] // by their numbers, from 1 on
	passing       atomic.Pointer[passingNodes]
	again         atomic.Bool // there was a pod before with answers missing

	mu      sync.Mutex // held by who writes verdicts, numbers and columns
	numbers map[verdictKey]uint16
}

// preFilterAnswer is what PreFilter answered.
type preFilterAnswer struct {
	abi.Out
	result *fwk.PreFilterResult // of the names that the guest gave
}

func (a *podAnswers) keepPreFilter(answered *preFilterAnswer) {
	a.preFilter.Store(answered)
	bytes := preFilterBytes + setBytes(len(answered.NodeNames)) + int64(len(verdictOf(answered.Out).reason()))
	for _, name := range answered.NodeNames {
		bytes += int64(len(name)) + stringBytes
	}
	a.cache.grew(a, bytes)
}

// verdict is what a hook answered: in Score's, the number is the score.
type verdict struct {
	code, number int32
	reasons      []string // one at most
}

func verdictOf(out abi.Out) verdict { return verdict{out.Code, out.Number, out.Reasons} }

// verdictKey is a verdict that can be compared.
type verdictKey struct {
	code, number int32
	reason       string
}

func (v verdict) key() verdictKey { return verdictKey{v.code, v.number, v.reason()} }

func (v verdict) reason() string {
	if len(v.reasons) == 0 {
		return ""
	}
	return v.reasons[0]
}

func (v verdict) passes() bool { return v.code == int32(fwk.Success) }

// String is a verdict as it is logged.
func (v verdict) String() string {
	return fmt.Sprintf("%s, %d, %q", fwk.Code(v.code), v.number, v.reason())
}

// about finds what was answered about the nodes of a number.
func (a *podAnswers) about(of *column, id int32) (verdict, bool) {
	number := of.get(id)
	if number == 0 {
		return verdict{}, false
	}
	return (*a.verdicts.Load())[number-1], true
}

// keep remembers what was answered about the nodes of a number, of so many numbers,
// unless there are too many different answers.
func (a *podAnswers) keep(of *column, id int32, size int, v verdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set(of, id, size, a.number(v))
}

// set is keep for the number of a verdict, with the answers locked.
func (a *podAnswers) set(of *column, id int32, size int, number uint16) {
	if grown := of.set(id, size, number); grown > 0 {
		a.cache.grew(a, grown)
	}
}

// number is that of a verdict, or 0 where there are too many. The answers must be
// locked.
func (a *podAnswers) number(v verdict) uint16 {
	key := v.key()
	number, ok := a.numbers[key]
	if ok || len(a.numbers) == math.MaxUint16 {
		return number
	}
	number = uint16(len(a.numbers) + 1)
	a.numbers[key] = number
	var verdicts []verdict
	if known := a.verdicts.Load(); known != nil {
		verdicts = *known
	}
	verdicts = append(verdicts, v) // who reads the list as it was does not see what is behind its end
	a.verdicts.Store(&verdicts)
	a.cache.grew(a, int64(len(key.reason))+verdictBytes)
	return number
}

// column has the numbers of verdicts, two in each cell, by the numbers of the nodes.
// 0 is none. The zero value is ready to use.
type column struct {
	cells atomic.Pointer[[]atomic.Uint32]
}

func (c *column) get(id int32) uint16 {
	cells := c.cells.Load()
	if cells == nil || int(id/2) >= len(*cells) {
		return 0
	}
	return uint16((*cells)[id/2].Load() >> (16 * uint(id&1)))
}

// set is for one goroutine at a time. It makes room for so many numbers of nodes, and
// says how many bytes that took. What is there stays: who asks the same gets the same
// answer.
func (c *column) set(id int32, size int, number uint16) (bytes int64) {
	cells := c.cells.Load()
	if cells == nil || int(id/2) >= len(*cells) {
		grown := make([]atomic.Uint32, max(size, int(id)+1)/2+1)
		bytes = 4 * int64(len(grown))
		if cells != nil {
			for i := range *cells {
				grown[i].Store((*cells)[i].Load())
			}
			bytes -= 4 * int64(len(*cells))
		}
		cells = &grown
		c.cells.Store(cells)
	}
	cell, shift := &(*cells)[id/2], 16*uint(id&1)
	if old := cell.Load(); old>>shift&math.MaxUint16 == 0 {
		cell.Store(old | uint32(number)<<shift)
	}
	return bytes
}
