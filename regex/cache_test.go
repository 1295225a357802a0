package regex

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestCacheReturnsWhatItHas(t *testing.T) {
	cache := NewCache(Default, 1<<20)
	for _, pattern := range []string{"kubecon-.*", "", "cncf-.*"} {
		for _, r := range []Role{Require, Exclude, Prefer} {
			first, err := cache.compile(r, pattern)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := cache.compile(r, pattern)
			if again != first {
				t.Errorf("%q was compiled twice", pattern)
			}
		}
	}
	_, first := cache.Select(ptr("("), nil)
	_, again := cache.Selector(map[string]string{Annotation: "("})
	if first == nil || again != first {
		t.Errorf("a refusal was not kept: %v, %v", first, again)
	}
	_, other := cache.Select(nil, ptr("("))
	if other == nil || other.Error() != "annotation "+ExcludeAnnotation+`: missing closing ): "("` {
		t.Errorf("the other role: %v", other)
	}
	for _, annotations := range []map[string]string{nil, {"example.com/regex": "("}} {
		selector, err := cache.Selector(annotations)
		if selector != nil || err != nil {
			t.Errorf("%v: %v, %v", annotations, selector, err)
		}
	}
}

func TestCacheKeepsItsBoundAndWhatIsInUse(t *testing.T) {
	const bound = 64 << 10
	cache := NewCache(Default, bound)
	used, err := cache.compile(Require, "in-use")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		if _, err := cache.compile(Role(i)%Roles, fmt.Sprintf("^node-%d$", i)); err != nil {
			t.Fatal(err)
		}
		again, _ := cache.compile(Require, "in-use")
		if again != used {
			t.Fatalf("after %d others the pattern in use was gone", i)
		}
		size := sizeOf(cache.young) + sizeOf(cache.old)
		if size > bound {
			t.Fatalf("%d bytes", size)
		}
	}
	first, _ := cache.Select(ptr("^node-0$"), nil)
	if first == nil || !first.Match("node-0") {
		t.Error("a forgotten pattern is not compiled again")
	}
}

func TestCacheCompilesAPatternWhileAnotherIsCompiled(t *testing.T) {
	cache := NewCache(Default, 1<<20)
	costly := cache.entry(Require, "costly")
	began, end := make(chan struct{}), make(chan struct{})
	go costly.once.Do(func() {
		close(began)
		<-end
	})
	defer close(end)
	<-began
	others := make(chan *pattern)
	for range 2 {
		go func() {
			other, _ := cache.compile(Require, "other")
			others <- other
		}()
	}
	var first *pattern
	for range 2 {
		select {
		case other := <-others:
			if other == nil || first != nil && other != first {
				t.Errorf("got %v and %v", first, other)
			}
			first = other
		case <-time.After(time.Minute):
			t.Fatal("it waits for the costly one")
		}
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

func ptr(s string) *string { return &s }

func TestCacheDoesNotKeepTheMemoryThatAPatternCameIn(t *testing.T) {
	cache := NewCache(Default, 1<<20)
	memory := []byte("kubecon-1")
	first, err := cache.compile(Require, unsafe.String(&memory[0], len(memory)))
	if err != nil {
		t.Fatal(err)
	}
	copy(memory, "overwrite")
	again, _ := cache.compile(Require, "kubecon-1")
	if again != first || !strings.HasSuffix(first.reason, ` "kubecon-1"`) {
		t.Errorf("got %q", again.reason)
	}
}

func TestCacheDoesNotKeepWhatIsTooLong(t *testing.T) {
	cache := NewCache(Default, 1<<20)
	if _, err := cache.Select(ptr(strings.Repeat("a", maxPattern+1)), nil); err == nil {
		t.Error("accepted")
	}
	if len(cache.young[Require]) != 0 {
		t.Error("kept")
	}
}
