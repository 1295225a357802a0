package regex

import (
	"fmt"
	"strings"
	"testing"
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
	if err != nil {
		t.Fatal(err)
	}
	copy(memory, "overwrite")
	again, _ := cache.compile(Require, "kubecon-1")
	if again != first || !strings.HasSuffix(first.reason, ` "kubecon-1"`) {
		t.Errorf("got %q", again.reason)
	}
}
