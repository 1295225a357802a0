package regex

import (
	"strings"
	"sync"
)

// A Cache keeps what patterns compile to across scheduling cycles, refusals
// too, within a bound of memory. It is safe for concurrent use.
//
// It has two generations: when the young one has grown to half of the bound it
// becomes the old one, and the old one is forgotten. What is used moves to the
// young one, so what goes is what was not used for longest, roughly.
type Cache struct {
	policy Policy
	half   int // bound of a generation, in bytes

	mu         sync.Mutex
	young, old map[string]compiled
	size       int // of the young generation, in bytes
}

type compiled struct {
	selector *Selector
	err      error
}

// NewCache returns an empty cache that holds about bytes of memory at most.
func NewCache(policy Policy, bytes int) *Cache {
	return &Cache{policy: policy, half: bytes / 2, young: map[string]compiled{}}
}

// Selector is [Policy.Selector], from the cache where that's possible.
func (c *Cache) Selector(annotations map[string]string) (*Selector, error) {
	pattern, ok := annotations[c.policy.Annotation]
	if !ok {
		return nil, nil
	}
	return c.Compile(pattern)
}

// Compile is [Policy.Compile], from the cache where that's possible.
func (c *Cache) Compile(pattern string) (*Selector, error) {
	if len(pattern) > maxPattern { // refused at once, and too long to keep
		return c.policy.Compile(pattern)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if hit, ok := c.young[pattern]; ok {
		return hit.selector, hit.err
	}
	entry, ok := c.old[pattern]
	if !ok {
		entry.selector, entry.err = c.policy.Compile(pattern)
	}
	c.keep(pattern, entry)
	return entry.selector, entry.err
}

// keep puts an entry into the young generation.
func (c *Cache) keep(pattern string, entry compiled) {
	size := entrySize + len(pattern)
	if entry.selector != nil {
		size += entry.selector.Size()
	}
	if c.size+size > c.half {
		c.old, c.young, c.size = c.young, map[string]compiled{}, 0
	}
	c.young[strings.Clone(pattern)] = entry
	c.size += size
}

// entrySize is about what an entry takes besides its selector: its place in
// the map, and the error.
const entrySize = 256
