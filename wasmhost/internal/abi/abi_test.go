package abi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/static"
)

const guests = "../../../testdata/guests/"

func compile(t *testing.T, guest string) *Guest {
	t.Helper()
	wasm, err := os.ReadFile(guests + guest + ".wasm")
	if err != nil {
		t.Fatal(err)
	}
	g, err := Compile(t.Context(), wasm, Options{MemoryLimit: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(t.Context()) })
	return g
}

func TestHooksThatAreConstantsAreNotActive(t *testing.T) {
	for guest, want := range map[string]Set{
		"every_hook":       0,
		"empty_filter":     0,
		"remember":         Of(PreFilter, AddPod, RemovePod, Filter),
		"reserve_count":    Of(Reserve, Unreserve, Filter),
		"trap_enqueue":     Of(Enqueue),
		"filter_and_score": Of(Filter, Score),
	} {
		got := compile(t, guest).Active
		if got != want {
			t.Errorf("%s: %b, want %b", guest, got, want)
		}
	}
	g := compile(t, "every_hook")
	if g.Constants[Bind].Code != 5 || g.Constants[Score].Number != 0 || !g.Exports.Has(Bind) {
		t.Errorf("bind is %v, score %v", g.Constants[Bind], g.Constants[Score])
	}
}

func TestGuestsOfThisProjectStart(t *testing.T) {
	for _, file := range []string{"regex_v1.wasm", "regex_v2.wasm"} {
		wasm, err := static.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		g, err := Compile(t.Context(), wasm, Options{MemoryLimit: 16 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close(t.Context())
		for range 3 { // of one compiled module
			i, err := g.Start(t.Context(), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			size := i.MemorySize()
			if size > 8<<20 {
				t.Errorf("%s: an instance has %d bytes", file, size)
			}
			if err := i.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestInstanceThatDoesNotStartHarmsNoOther(t *testing.T) {
	g := compile(t, "start_trap")
	for range 2 {
		_, err := g.Start(t.Context(), Settings{})
		var trap *Trap
		if !errors.As(err, &trap) || trap.Hook != "_start" || !strings.Contains(err.Error(), "wasm error: unreachable (in ") {
			t.Errorf("got %v", err)
		}
	}
	whole := compile(t, "trap_filter")
	i, err := whole.Start(t.Context(), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := whole.Start(t.Context(), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	i.In.NodeName = "trap"
	if _, err := i.Call(Filter); err == nil {
		t.Error("no trap")
	}
	_ = i.Close(t.Context())
	j.In.NodeName = "a"
	if _, err := j.Call(Filter); err != nil {
		t.Errorf("the other instance: %v", err)
	}
}

// A guest may grow by a page at a time. Each move of what it has is garbage until
// it is collected.
func TestMemoryThatGrowsSlowlyCostsLittleMore(t *testing.T) {
	const limit = 16 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := limitedAllocator{limit: limit}.Allocate(0, 1<<32)
	for size := uint64(pageSize); size <= limit; size += pageSize {
		bytes := m.Reallocate(size)
		if uint64(len(bytes)) != size || bytes[0] != 7 && size > pageSize {
			t.Fatalf("%d bytes of %d, the first is %d", len(bytes), size, bytes[0])
		}
		bytes[0] = 7
	}
	runtime.ReadMemStats(&after)
	if m.Reallocate(limit+pageSize) != nil {
		t.Error("it may grow beyond its limit")
	}
	took := after.TotalAlloc - before.TotalAlloc
	if took > 2*limit+limit/4 {
		t.Errorf("took %.1f times its size", float64(took)/limit)
	}
}

func TestTerminated(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "a\x00": {"a"}, "a\x00b\x00": {"a", "b"}, "\x00\x00a\x00": {"a"}, "a": nil, "a\x00rest": {"a"},
	} {
		got, all := terminated([]byte(text), 2)
		if !slices.Equal(got, want) || !all {
			t.Errorf("%q: %q %v, want %q", text, got, all, want)
		}
	}
	got, all := terminated([]byte("a\x00b\x00c\x00"), 2)
	if all || len(got) != 2 {
		t.Errorf("three, where two are the most: %q %v", got, all)
	}
}

// The watchdog may look at a call that ends before it interrupts it.
func TestCallThatHasEndedIsNotInterrupted(t *testing.T) {
	wasm, err := os.ReadFile(guests + "empty_filter.wasm")
	if err != nil {
		t.Fatal(err)
	}
	g, err := Compile(t.Context(), wasm, Options{MemoryLimit: 16 << 20, Interruptible: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.Background())
	i, err := g.Start(t.Context(), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := i.InCall()
	if _, err := i.Call(Filter); err != nil {
		t.Fatal(err)
	}
	i.InterruptCall(before+1, Overdue(time.Second)) // the number of the call that was
	if _, err := i.Call(Filter); err != nil || i.Interrupted() {
		t.Errorf("the next call: %v", err)
	}
}

func TestEqualReasonsAreOneString(t *testing.T) {
	var account Account
	i, j := Instance{In: In{Account: &account}}, Instance{In: In{Account: &account}}
	a, b := i.reason([]byte("a")), i.reason([]byte("b"))
	if &a[0] != &i.reason([]byte("a"))[0] || &b[0] != &j.reason([]byte("b"))[0] || a[0] != "a" || b[0] != "b" {
		t.Error("they are not")
	}
	for n := range 2 * maxReasonsCount {
		i.reason(fmt.Append(nil, n))
	}
	if len(account.reasons) > maxReasonsCount || account.size > maxReasons {
		t.Errorf("%d are remembered, %d bytes", len(account.reasons), account.size)
	}
}

func TestFrames(t *testing.T) {
	trace := "\n\tmain.parse(i32,i32) i32\n\t\t/src/main.go:7:1\n\t.(*regexp.Regexp).match(i32)\n\t.$22()\n\tfilter() i32\n\nGo runtime stack trace:\n\tgoroutine 1\n"
	got, want := frames(trace), []string{"main.parse", "(*regexp.Regexp).match", "$22", "filter"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatAGuestPrintsIsBounded(t *testing.T) {
	var interrupted atomic.Bool
	p := printed{interrupted: &interrupted}
	for range 100 {
		n, err := p.Write(make([]byte, 1000))
		if n != 1000 || err != nil {
			t.Fatal(n, err)
		}
	}
	if len(p.kept) != maxPrinted {
		t.Errorf("%d bytes are kept", len(p.kept))
	}
	interrupted.Store(true)
	if _, err := p.Write(nil); err == nil {
		t.Error("it prints on, though it is to end")
	}
}
