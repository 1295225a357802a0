package abi

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

const guests = "../../../testdata/guests/"

func compile(t *testing.T, guest string) *Guest {
	t.Helper()
	wasm := testkit.ReadFile(t, guests+guest+".wasm")
	g, err := Compile(t.Context(), wasm, Options{MemoryLimit: 16 << 20})
	testkit.Must(t, err)
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
		testkit.Equal(t, compile(t, guest).Active, want, "%s", guest)
	}
	g := compile(t, "every_hook")
	if g.Constants[Bind].Code != 5 || g.Constants[Score].Number != 0 || !g.Exports.Has(Bind) {
		t.Errorf("bind is %v, score %v", g.Constants[Bind], g.Constants[Score])
	}
}

// A guest may grow by a page at a time. Each move of what it has is garbage until
// it is collected.
func TestMemoryThatGrowsSlowlyCostsLittleMore(t *testing.T) {
	const limit = 16 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := (&memory{limit: limit, budget: &budget{limit: Budget}}).Allocate(0, 1<<32)
	for size := uint64(abi.PageSize); size <= limit; size += abi.PageSize {
		bytes := m.Reallocate(size)
		if uint64(len(bytes)) != size || bytes[0] != 7 && size > abi.PageSize {
			t.Fatalf("%d bytes of %d, the first is %d", len(bytes), size, bytes[0])
		}
		bytes[0] = 7
	}
	runtime.ReadMemStats(&after)
	if m.Reallocate(limit+abi.PageSize) != nil {
		t.Error("it may grow beyond its limit")
	}
	took := after.TotalAlloc - before.TotalAlloc
	if took > 2*limit+limit/4 {
		t.Errorf("took %.1f times its size", float64(took)/limit)
	}
}

// The watchdog may look at a call that ends before it interrupts it.
func TestCallThatHasEndedIsNotInterrupted(t *testing.T) {
	wasm := testkit.ReadFile(t, guests+"empty_filter.wasm")
	g, err := Compile(t.Context(), wasm, Options{MemoryLimit: 16 << 20, Interruptible: true})
	testkit.Must(t, err)
	defer g.Close(context.Background())
	i, err := g.Start(t.Context(), Settings{})
	testkit.Must(t, err)
	for range 2 {
		testkit.Must(t, i.Call(Filter, &Out{}))
		i.Watch(0)
	}
	err = i.Call(Filter, &Out{})
	if err != nil || i.Interrupted() {
		t.Errorf("the next call: %v", err)
	}
}

func TestGuestWithoutRoomForWhatItAsksTraps(t *testing.T) {
	i := start(t, compile(t, "../../abi/mirror"))
	i.In.Scheduler = NoScheduler{}
	const outside = 1<<31 - 1
	for what, write := range map[string]func(){
		"a text":      func() { write(i, "text", outside, 4) },
		"JSON":        func() { i.writeJSON(1, outside, 4) },
		"an object":   func() { i.writeMessage(&v1.Pod{}, outside, 100) },
		"a number":    func() { i.endWait([]uint64{0, 0, outside, 8}, "", i.In.Scheduler.RejectWaitingPod) },
		"no such pod": func() { getWaitingPod(i, []uint64{0, 0, outside, 8}) },
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				testkit.ErrorHas(t, err, "out of the guest's memory")
			}()
			write()
			t.Errorf("%s: it is not written, and the guest goes on", what)
		}()
	}
}

func TestFrames(t *testing.T) {
	trace := "\n\tmain.parse(i32,i32) i32\n\t\t/src/main.go:7:1\n\t.(*regexp.Regexp).match(i32)\n\t.$22()\n\tfilter() i32\n\nGo runtime stack trace:\n\tgoroutine 1\n"
	testkit.Equal(t, frames(trace), []string{"main.parse", "(*regexp.Regexp).match", "$22", "filter"}, "the frames")
}

func TestGuestPrintsABoundedAmount(t *testing.T) {
	var interrupted atomic.Bool
	p := printed{interrupted: &interrupted}
	for range 100 {
		n, err := p.Write(make([]byte, 1000))
		testkit.Must(t, err)
		testkit.Equal(t, n, 1000, "bytes")
	}
	testkit.Equal(t, len(p.kept), maxPrinted, "bytes that are kept")
	interrupted.Store(true)
	if _, err := p.Write(nil); err == nil {
		t.Error("it prints on, though it is to end")
	}
}

// TestHostHasTheWholeABI compares what is called, linked and read with package guest/abi, of which docs/abi.md is made.
func TestHostHasTheWholeABI(t *testing.T) {
	called := append(slices.Clone(names[:]), abi.ExportStart, abi.ExportInitialize, abi.ExportDecidesBy, abi.ExportSeesResources)
	slices.Sort(called)
	testkit.Equal(t, called, slices.Sorted(maps.Keys(abi.Exports)), "what the host calls")
	for module, functions := range abi.Imports {
		testkit.Equal(t, slices.Sorted(maps.Keys(hostFunctions[module])), slices.Sorted(maps.Keys(functions)), "what the host links of %s", module)
	}
	testkit.Equal(t, len(hostFunctions), len(abi.Imports), "modules that the host links")
	fields, err := parseFields(strings.Join(abi.Fields, "\x00") + "\x00")
	if err != nil || len(fields.Pod)+len(fields.Node) != len(abi.Fields) {
		t.Errorf("the ABI has the fields %q; of these the host reads %v (%v)", abi.Fields, fields, err)
	}
}
