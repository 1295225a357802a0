package regex

import (
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// cacheSize is how many patterns a cache keeps. A cluster's pods come from far
// fewer workloads than it has pods; more patterns than this cost compiling.
const cacheSize = 256

// cache keeps compiled patterns, because compiling one takes longer than
// matching a thousand names. It forgets everything when it is full.
type cache struct {
	policy regex.Policy

	mu       sync.RWMutex
	compiled map[string]*regex.Selector
}

// get is regex.Policy.Selector, cached.
func (c *cache) get(annotations map[string]string) (*regex.Selector, error) {
	pattern, ok := annotations[c.policy.Annotation]
	if !ok {
		return nil, nil
	}
	c.mu.RLock()
	selector := c.compiled[pattern]
	c.mu.RUnlock()
	if selector != nil {
		return selector, nil
	}
	selector, err := c.policy.Selector(annotations)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil || len(c.compiled) >= cacheSize {
		c.compiled = make(map[string]*regex.Selector)
	}
	c.compiled[pattern] = selector
	return selector, nil
}
