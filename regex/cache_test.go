package regex

import (
	"fmt"
	"strings"
	"testing"
)

func TestACacheReturnsWhatItHas(t *testing.T) {
	cache := NewCache(Default, 1<<20)
	for _, pattern := range []string{"kubecon-.*", "", "cncf-.*"} {
		first, err := cache.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := cache.Selector(map[string]string{Annotation: pattern}); again != first {
			t.Errorf("%q was compiled twice", pattern)
		}
	}
	_, first := cache.Compile("(")
	if _, again := cache.Compile("("); first == nil || again != first {
		t.Errorf("a refusal was not kept: %v, %v", first, again)
	}
	if selector, err := cache.Selector(nil); selector != nil || err != nil {
		t.Errorf("no annotation: %v, %v", selector, err)
	}
}

func TestACacheKeepsItsBoundAndWhatIsInUse(t *testing.T) {
	const bound = 64 << 10
	cache := NewCache(Default, bound)
	used, err := cache.Compile("in-use")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		if _, err := cache.Compile(fmt.Sprintf("^node-%d$", i)); err != nil {
			t.Fatal(err)
		}
		if again, _ := cache.Compile("in-use"); again != used {
			t.Fatalf("after %d others the pattern in use was gone", i)
		}
		if size := sizeOf(cache.young) + sizeOf(cache.old); size > bound {
			t.Fatalf("%d bytes", size)
		}
	}
	if first, _ := cache.Compile("^node-0$"); first == nil || !first.Match("node-0") {
		t.Error("what was forgotten cannot be had again")
	}
}

func sizeOf(generation map[string]compiled) (size int) {
	for pattern, entry := range generation {
		size += entrySize + len(pattern) + entry.selector.Size()
	}
	return size
}

func TestACacheDoesNotKeepTheMemoryThatAPatternCameIn(t *testing.T) {
	cache := NewCache(Default, 1<<20)
	memory := []byte("kubecon-1")
	selector, err := cache.Compile(string(memory))
	if err != nil {
		t.Fatal(err)
	}
	copy(memory, "overwrite")
	if again, _ := cache.Compile("kubecon-1"); again != selector || selector.Pattern() != "kubecon-1" {
		t.Errorf("got %q", again.Pattern())
	}
}

func TestACacheDoesNotKeepWhatIsTooLong(t *testing.T) {
	cache := NewCache(Default, 1<<20)
	if _, err := cache.Compile(strings.Repeat("a", maxPattern+1)); err == nil {
		t.Error("accepted")
	}
	if len(cache.young) != 0 {
		t.Error("kept")
	}
}
