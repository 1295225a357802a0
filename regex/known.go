//go:build !tinygo

package regex

import "errors"

// ErrNotCached is the error of [Cache.Cached] where a pattern is not in the cache.
var ErrNotCached = errors.New("a pattern is not in the cache")

// Cached is [Cache.Compile] for a caller that has no time to compile a pattern, or to wait for
// another that compiles it. What it looks up does not count as used.
func (c *Cache) Cached(annotations map[string]string) (Rules, error) {
	return c.policy.rules(annotations, nil, func(r Role, text string) (*pattern, error) {
		if len(text) > maxPattern { // is never kept, and refused at once
			return c.policy.compile(r, text)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, g := range []generation{c.young, c.old} {
			if entry, ok := g[r][text]; ok {
				return entry.pattern, entry.err
			}
		}
		return nil, ErrNotCached
	})
}
