// Package memory holds what a guest has answered that declares the fields it decides by.
// PreFilter's answers are kept by the values of the pod's fields, those of Filter and Score
// by these and the values of the node's fields. It calls no guest, and does not know what an
// answer means.
//
// No answer can be stale, as long as the guest is shown nothing else than those fields.
package memory

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// Cache holds the answers of a guest.
type Cache struct {
	fields *abi.Fields
	memo   *naming.Memo[*answers] // by the values of the pod's fields

	mu      sync.Mutex
	closed  bool
	numbers *numbering
	nodes   *nodes // of the last cycle
}

// New makes a Cache of at most limit bytes. It reports each change of its size, one at a time.
func New(fields *abi.Fields, limit int64, sized func(entries int, bytes int64)) *Cache {
	c := &Cache{fields: fields, memo: naming.NewMemo[*answers](limit, sized), nodes: &nodes{}}
	c.clear()
	return c
}

// clear drops all answers. The cache must be locked.
func (c *Cache) clear() {
	c.memo.Clear()
	c.numbers = &numbering{ids: map[string]Node{}}
	c.nodes = &nodes{version: c.nodes.version}
}

// Close drops all answers for good.
func (c *Cache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.clear()
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
	known := c.memo.Get(key)
	again := known != nil
	if !again {
		known = c.memo.Add(key, &answers{numbers: c.numbers, places: map[verdictKey]uint16{}}, entryBytes)
	}
	if known == nil {
		return nil
	}
	return &About{Again: again, kind: known, answers: known.Value, fields: c.fields, nodes: c.nodes}
}

// Peek is what is known about pods like this one, without the nodes of a cycle: only [About.Answer] and [About.Look] may be
// called of it. It is nil where nothing is known.
func (c *Cache) Peek(pod *v1.Pod) *About {
	var buffer [256]byte
	known := c.memo.Get(appendValues(buffer[:0], c.fields.Pod, &pod.ObjectMeta))
	if known == nil {
		return nil
	}
	return &About{kind: known, answers: known.Value, fields: c.fields}
}

// appendValues appends the values of fields to a key.
func appendValues(key []byte, fields []abi.Field, of *metav1.ObjectMeta) []byte {
	for _, field := range fields {
		value, ok := ValueOf(field, of)
		key = naming.AppendValue(key, value, ok)
	}
	return key
}

// ValueOf is the value of a field, if it is there.
func ValueOf(field abi.Field, of *metav1.ObjectMeta) (value string, ok bool) {
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
