package regex

import (
	"errors"
	"strings"
	"testing"
)

func TestCachedCompilesNothing(t *testing.T) {
	c := NewCache(Default, 1<<20)
	for _, pattern := range []string{"gpu", "(", strings.Repeat("a", maxPattern+1)} {
		annotations := map[string]string{Annotation: pattern}
		_, err := c.Cached(annotations)
		if long := len(pattern) > maxPattern; errors.Is(err, ErrNotCached) == long {
			t.Errorf("%.10s, before: %v", pattern, err)
		}
		rules, want := c.Compile(annotations)
		got, err := c.Cached(annotations)
		if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() || got != rules {
			t.Errorf("%.10s: %v, %v; the cache has %v, %v", pattern, got, err, rules, want)
		}
	}
	rules, err := c.Cached(nil)
	if rules.Filters() || rules.Scores() || err != nil {
		t.Errorf("without a pattern: %v, %v", rules, err)
	}
	_, err = c.Cached(map[string]string{Annotation: "gpu", ExcludeAnnotation: "old"})
	if !errors.Is(err, ErrNotCached) {
		t.Errorf("one of two: %v", err)
	}
}
