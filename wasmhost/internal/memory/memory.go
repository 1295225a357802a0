// Package memory holds what a guest has answered that declares the fields it decides by.
// PreFilter's answers are kept by the values of the pod's fields, those of Filter and Score
// by these and the values of the node's fields. It calls no guest, and does not know what an
// answer means.
//
// No answer can be stale, as long as the guest is shown nothing else than those fields.
package memory

import (
	"container/list"
	"sync"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// Cache holds the answers of a guest.
type Cache struct {
	fields *abi.Fields
	limit  int64 // in bytes
	sized  func(entries int, bytes int64)

	mu      sync.Mutex
	closed  bool
	entries map[string]*list.Element // of *entry, by the values of the pod's fields
	used    list.List                // the one that was used last is in front
	bytes   int64

	numbers *numbering
	nodes   *nodes // of the last cycle
}

// New makes a Cache of at most limit bytes. It reports each change of its size with its lock
// held.
func New(fields *abi.Fields, limit int64, sized func(entries int, bytes int64)) *Cache {
	c := &Cache{fields: fields, limit: limit, sized: sized}
	c.clear()
	return c
}

// clear drops all answers. The cache must be locked.
func (c *Cache) clear() {
	for element := c.used.Front(); element != nil; element = element.Next() {
		element.Value.(*entry).dropped = true
	}
	c.entries, c.bytes = map[string]*list.Element{}, 0
	c.used.Init()
	c.numbers = &numbering{ids: map[string]Node{}}
	c.nodes = &nodes{}
}

// Close drops all answers for good.
func (c *Cache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.clear()
	c.sized(0, 0)
}

// About finds what is known about pods like this one on the nodes of its cycle. It is nil
// where nothing is kept: the cache is nil or closed, or the values of the fields are too long.
func (c *Cache) About(pod *v1.Pod, list []fwk.NodeInfo) *About {
	if c == nil {
		return nil
	}
	var buffer [256]byte
	key := appendValues(buffer[:0], c.fields.Pod, &pod.ObjectMeta)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	if c.numbers.len() > 2*len(c.nodes.list)+maxGone {
		c.clear()
	}
	if len(list) > 0 {
		c.renew(list)
	}
	if known, ok := c.entries[string(key)]; ok {
		c.used.MoveToFront(known)
		return &About{known.Value.(*entry), c.nodes}
	}
	if int64(len(key)) > c.limit/4 {
		return nil
	}
	e := &entry{cache: c, key: string(key), numbers: c.numbers, places: map[verdictKey]uint16{}}
	c.entries[e.key] = c.used.PushFront(e)
	c.count(e, int64(len(key))+entryBytes)
	return &About{e, c.nodes}
}

// grew counts what an entry takes more.
func (c *Cache) grew(e *entry, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(e, bytes)
}

// count is grew with the cache locked. The entries that were not used for longest give way.
func (c *Cache) count(e *entry, bytes int64) {
	if e.dropped {
		return
	}
	e.bytes += bytes
	c.bytes += bytes
	for c.bytes > c.limit && c.used.Len() > 0 { // e itself may give way, too
		oldest := c.used.Remove(c.used.Back()).(*entry)
		delete(c.entries, oldest.key)
		oldest.dropped = true
		c.bytes -= oldest.bytes
	}
	c.sized(len(c.entries), c.bytes)
}
