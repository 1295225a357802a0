package regex

import (
	"strings"
	"sync"
)

// A Cache keeps compiled patterns, and refused ones, from one scheduling cycle to the
// next, within a bound of memory. It is safe for concurrent use.
//
// It has two generations. When the young one has grown to half of the bound, it becomes
// the old one, and the old one is dropped. A pattern that is used moves to the young
// one. So the cache drops, roughly, what was least recently used.
type Cache struct {
	policy Policy
	half   int // bound of a generation, in bytes

	mu         sync.Mutex // not held while a pattern is compiled
	young, old generation
	compiling  generation
	size       int // of the young generation, in bytes
}

// generation has the patterns of each role.
type generation [Roles]map[string]*compiled

func newGeneration() (g generation) {
	for r := range g {
		g[r] = map[string]*compiled{}
	}
	return g
}

type compiled struct {
	once    sync.Once // compiles it, for all that wait for it
	pattern *pattern
	err     error
}

// NewCache returns an empty cache that holds about bytes of memory at most.
func NewCache(policy Policy, bytes int) *Cache {
	return &Cache{policy: policy, half: bytes / 2, young: newGeneration(), compiling: newGeneration()}
}

// Compile is [Policy.Compile], but takes patterns from the cache.
func (c *Cache) Compile(annotations map[string]string, only ...Role) (Rules, error) {
	return c.policy.rules(annotations, only, c.compile)
}

// CompileValues is Compile for a guest that has read no other annotations: it takes their values
// in the order of [Policy.Keys], and nil for a missing one. A map of them would take longer to
// make than the rest.
func (c *Cache) CompileValues(values []*string) (rules Rules, err error) {
	for r, text := range values {
		if text == nil {
			continue
		}
		rules.patterns[r], err = c.compile(Role(r), *text)
		if err != nil {
			return Rules{}, err
		}
	}
	return rules, nil
}

func (c *Cache) compile(r Role, text string) (*pattern, error) {
	if len(text) > maxPattern { // is refused at once, and too long to keep
		return c.policy.compile(r, text)
	}
	entry := c.entry(r, text)
	entry.once.Do(func() {
		entry.pattern, entry.err = c.policy.compile(r, text)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.compiling[r], text)
		c.keep(r, text, entry)
	})
	return entry.pattern, entry.err
}

// entry finds a pattern, or makes a place for one that is to be compiled.
func (c *Cache) entry(r Role, text string) *compiled {
	c.mu.Lock()
	defer c.mu.Unlock()
	if hit, ok := c.young[r][text]; ok {
		return hit
	}
	if hit, ok := c.old[r][text]; ok {
		c.keep(r, text, hit)
		return hit
	}
	if other, ok := c.compiling[r][text]; ok {
		return other
	}
	entry := new(compiled)
	c.compiling[r][strings.Clone(text)] = entry
	return entry
}

// keep puts an entry into the young generation.
func (c *Cache) keep(r Role, text string, entry *compiled) {
	size := entrySize + len(text)
	if entry.pattern != nil {
		size += entry.pattern.size()
	}
	if c.size+size > c.half {
		c.old, c.young = c.young, newGeneration()
		c.size = 0
	}
	c.young[r][strings.Clone(text)] = entry
	c.size += size
}

// entrySize is about how many bytes an entry takes besides its pattern: its place in
// the map, and the error.
const entrySize = 256
