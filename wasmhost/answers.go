package wasmhost

import (
	"container/list"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// answerCache keeps what a guest has answered that declares the fields it decides
// by: PreFilter's answers by the values of the pod's fields, those of Filter and
// Score by these and the values of the node's. Errors are not kept. Nothing in it
// can be stale, as long as the guest decides by what it declares and nothing else;
// see doubt for one that does not.
type answerCache struct {
	fields  *abi.Fields
	limit   int64  // in bytes
	recheck uint32 // a random number up to this is a doubt
	metrics *answerMetrics

	// off is set for good when a guest has answered the same question in two ways.
	off atomic.Bool

	asked, sure atomic.Int64 // when the last doubt was, and until when there is none: in ns

	mu     sync.Mutex
	pods   map[string]*list.Element // of *podAnswers
	used   list.List                // the one that was used last is in front
	bytes  int64
	table  *nodeTable
	tables uint64 // how many there were
}

func newAnswerCache(fields *abi.Fields, limit int64, recheck uint32, m *answerMetrics) *answerCache {
	return &answerCache{
		fields: fields, limit: limit, recheck: math.MaxUint32 / recheck, metrics: m,
		pods: map[string]*list.Element{}, table: &nodeTable{},
	}
}

// of are the answers about pods like this one, and the table of the nodes of its
// cycle. Nil nodes are those of the last cycle.
func (c *answerCache) of(pod *v1.Pod, nodes []fwk.NodeInfo) (*podAnswers, *nodeTable) {
	if c == nil || c.off.Load() {
		return nil, nil
	}
	c.metrics.flush()
	var buffer [256]byte
	key := appendValues(buffer[:0], c.fields.Pod, &pod.ObjectMeta)
	c.mu.Lock()
	defer c.mu.Unlock()
	if nodes != nil && !c.table.isOf(nodes, c.fields.Node) {
		c.renew(nodes)
	}
	if element, ok := c.pods[string(key)]; ok {
		c.used.MoveToFront(element)
		return element.Value.(*podAnswers), c.table
	}
	if int64(len(key)) > c.limit/4 {
		return nil, nil
	}
	a := &podAnswers{cache: c, key: string(key)}
	c.pods[a.key] = c.used.PushFront(a)
	c.count(a, int64(len(key))+podAnswersBytes)
	return a, c.table
}

// podAnswersBytes is about what the answers about a pod take before there are any.
const podAnswersBytes = 400

// renew makes the table of other nodes. Numbers are given out only once, so now
// and then everything begins anew.
func (c *answerCache) renew(nodes []fwk.NodeInfo) {
	if len(c.table.ids) > 2*len(nodes)+maxGone {
		c.forget()
	}
	c.table = c.table.next(nodes, c.fields.Node)
	if c.table.number == 0 {
		c.tables++
		c.table.number = c.tables
	}
}

// maxGone is how many nodes that are gone have a number at least.
const maxGone = 1000

// forget drops all answers. The cache must be locked.
func (c *answerCache) forget() {
	for element := c.used.Front(); element != nil; element = element.Next() {
		element.Value.(*podAnswers).dropped = true
	}
	clear(c.pods)
	c.used.Init()
	c.bytes, c.table = 0, &nodeTable{}
	c.metrics.size(0, 0)
}

// stop ends the cache for good, and reports whether it was on.
func (c *answerCache) stop() bool {
	if !c.off.CompareAndSwap(false, true) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	return true
}

// grew says that the answers about a pod take more bytes.
func (c *answerCache) grew(a *podAnswers, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(a, bytes)
}

// count is grew with the cache locked. Those that were not used for longest give
// way.
func (c *answerCache) count(a *podAnswers, bytes int64) {
	if a.dropped {
		return
	}
	a.bytes += bytes
	c.bytes += bytes
	for c.bytes > c.limit && c.used.Len() > 0 { // also the one that has grown
		oldest := c.used.Remove(c.used.Back()).(*podAnswers)
		delete(c.pods, oldest.key)
		oldest.dropped = true
		c.bytes -= oldest.bytes
	}
	c.metrics.size(len(c.pods), c.bytes)
}

// doubt is true now and then, of remembered answers for which the guest is to be
// asked again: the promise is the guest's, and nothing else would show that it is
// not kept.
func (c *answerCache) doubt() bool { return c.doubtOneOf(1) }

// doubtOneOf is true where one of so many answers would be doubted.
func (c *answerCache) doubtOneOf(answers int) bool {
	return uint64(rand.Uint32()) <= uint64(c.recheck)*uint64(answers) && c.mayDoubt()
}

// mayDoubt is false for a while after a doubt: all together take no more than a
// hundredth of the time, unless each answer is to be asked for again. So a guest
// that takes long pays no more than another.
func (c *answerCache) mayDoubt() bool {
	now := time.Now().UnixNano()
	if c.recheck != math.MaxUint32 && now < c.sure.Load() {
		return false
	}
	c.asked.Store(now)
	return true
}

// doubted is called when the guest has answered.
func (c *answerCache) doubted() {
	now := time.Now().UnixNano()
	c.sure.Store(now + 100*(now-c.asked.Load()))
}

// podAnswers are the answers about pods whose declared fields have the same
// values.
type podAnswers struct {
	cache   *answerCache
	key     string
	bytes   int64 // as the cache has counted them, with which these two are locked
	dropped bool

	preFilter     atomic.Pointer[preFilterAnswer]
	filter, score column
	passing       atomic.Pointer[passingNodes]
	verdicts      atomic.Pointer[[]verdict]
	again         atomic.Bool // there was a pod before with answers missing
	latest        atomic.Pointer[latestNode]

	mu      sync.Mutex
	numbers map[verdictKey]uint16
}

// preFilterAnswer is what PreFilter answered.
type preFilterAnswer struct {
	answer
	result *fwk.PreFilterResult // of the names that the guest gave
}

// latestNode is the last node that an event has told of, and what the guest said.
type latestNode struct {
	key      string
	rejected bool
}

func (a *podAnswers) keepPreFilter(answered *preFilterAnswer) {
	a.preFilter.Store(answered)
	bytes := answerBytes + setBytes(len(answered.out.NodeNames))
	for _, name := range answered.out.NodeNames {
		bytes += int64(len(name)) + stringBytes
	}
	for _, reason := range answered.out.Reasons {
		bytes += int64(len(reason))
	}
	a.cache.grew(a, bytes)
}

// What an answer to PreFilter takes beside its texts, about, and what each text
// does.
const (
	answerBytes = 200
	stringBytes = 16
)

// verdict is what Filter or Score answered about a node.
type verdict struct {
	value   uint64
	reasons []string
}

// verdictKey is a verdict that can be compared: there is at most one reason.
type verdictKey struct {
	value     uint64
	hasReason bool
	reason    string
}

// String is a verdict as it is logged.
func (v verdict) String() string {
	reason := ""
	if len(v.reasons) > 0 {
		reason = ": " + v.reasons[0]
	}
	return fmt.Sprintf("%#x%s", v.value, reason)
}

func (v verdict) key() verdictKey {
	key := verdictKey{value: v.value, hasReason: len(v.reasons) > 0}
	if key.hasReason {
		key.reason = v.reasons[0]
	}
	return key
}

// about finds what was answered about a node. Of a column a guest's verdicts are
// read by any number of goroutines at once.
func (a *podAnswers) about(of *column, id int32) (verdict, bool) {
	number := of.get(id)
	if number == 0 {
		return verdict{}, false
	}
	return (*a.verdicts.Load())[number-1], true
}

// keep remembers what was answered about a node, unless there are too many
// different answers.
func (a *podAnswers) keep(of *column, id int32, nodes int, v verdict) {
	if number := a.number(v); number != 0 {
		a.room(of, id, nodes)
		of.set(id, number)
	}
}

// room makes room for what is answered about a node, of so many.
func (a *podAnswers) room(of *column, id int32, nodes int) {
	a.mu.Lock()
	grown := of.grow(id, nodes)
	a.mu.Unlock()
	if grown > 0 {
		a.cache.grew(a, grown)
	}
}

// number is that of a verdict, or 0 where there are too many.
func (a *podAnswers) number(v verdict) uint16 {
	key := v.key()
	a.mu.Lock()
	defer a.mu.Unlock()
	number, ok := a.numbers[key]
	if ok || len(a.numbers) == math.MaxUint16 {
		return number
	}
	if a.numbers == nil {
		a.numbers = map[verdictKey]uint16{}
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

// verdictBytes is about what a verdict takes beside its reason.
const verdictBytes = 150

// column has the numbers of the verdicts about nodes, two in each cell, by the
// numbers of the nodes. 0 is none. The zero value is ready to use.
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

// grow makes room for a node, and says how many bytes that took. What is set
// meanwhile may be lost, and is asked again.
func (c *column) grow(id int32, nodes int) (bytes int64) {
	cells := c.cells.Load()
	if cells != nil && int(id/2) < len(*cells) {
		return 0
	}
	grown := make([]atomic.Uint32, max(nodes, int(id)+1)/2+1)
	if cells != nil {
		for i := range *cells {
			grown[i].Store((*cells)[i].Load())
		}
		bytes = -4 * int64(len(*cells))
	}
	c.cells.Store(&grown)
	return bytes + 4*int64(len(grown))
}

// set is for a node that has room. A number that is there stays: two goroutines
// that ask the same get the same answer.
func (c *column) set(id int32, number uint16) {
	cell, shift := &(*c.cells.Load())[id/2], 16*uint(id&1)
	for {
		old := cell.Load()
		if old>>shift&math.MaxUint16 != 0 || cell.CompareAndSwap(old, old|uint32(number)<<shift) {
			return
		}
	}
}

// appendValues writes the values of fields, so that no two differing lists are
// written alike: a length in front, which is 0 for what is not there.
func appendValues(b []byte, fields []abi.Field, of *metav1.ObjectMeta) []byte {
	for _, field := range fields {
		value, ok := valueOf(field, of)
		if !ok {
			b = append(b, 0)
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(value))+1)
		b = append(b, value...)
	}
	return b
}

// valueOf is the value of a field, if it is there.
func valueOf(field abi.Field, of *metav1.ObjectMeta) (value string, ok bool) {
	switch field.Kind {
	case abi.Namespace:
		return of.Namespace, true
	case abi.Name:
		return of.Name, true
	case abi.Label:
		value, ok = of.Labels[field.Key]
	case abi.Annotation:
		value, ok = of.Annotations[field.Key]
	}
	return value, ok
}
