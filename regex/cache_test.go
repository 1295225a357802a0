package regex

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

func TestCacheKeepsItsBoundAndWhatIsInUse(t *testing.T) {
	const bound = 64 << 10
	cache := NewCache(Default, bound)
	used, err := cache.compile(Require, "in-use")
	must(t, err)
	for i := range 10_000 {
		_, err := cache.compile(Role(i)%Roles, fmt.Sprintf("^node-%d$", i))
		must(t, err)
		again, _ := cache.compile(Require, "in-use")
		if again != used {
			t.Fatalf("after %d others the pattern in use was gone", i)
		}
		size := sizeOf(cache.young) + sizeOf(cache.old)
		if size > bound {
			t.Fatalf("%d bytes", size)
		}
	}
	first, err := cache.Compile(map[string]string{Annotation: "^node-0$"})
	if err != nil || first.Judge("node-0") != Qualifies || first.Judge("node-1") != Mismatch {
		t.Error("a forgotten pattern is not compiled again")
	}
}

func sizeOf(g generation) (size int) {
	for _, patterns := range g {
		for text, entry := range patterns {
			size += entrySize + len(text) + entry.pattern.size()
		}
	}
	return size
}

func TestCacheDoesNotKeepTheMemoryThatAPatternCameIn(t *testing.T) {
	cache := NewCache(Default, 1<<20)
	memory := []byte("kubecon-1")
	first, err := cache.compile(Require, unsafe.String(&memory[0], len(memory)))
	must(t, err)
	copy(memory, "overwrite")
	again, _ := cache.compile(Require, "kubecon-1")
	if again != first || !strings.HasSuffix(first.reason, ` "kubecon-1"`) {
		t.Errorf("got %q", again.reason)
	}
}

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
