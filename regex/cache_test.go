package regex

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"
)

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
