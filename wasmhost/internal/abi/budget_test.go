package abi

import (
	"runtime"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// start makes an instance.
func start(t *testing.T, g *Guest) *Instance {
	t.Helper()
	i, err := g.Start(t.Context(), Settings{})
	testkit.Must(t, err)
	t.Cleanup(func() { i.Close(t.Context()) })
	return i
}

// filter is the code that Filter answers.
func filter(t *testing.T, i *Instance) int32 {
	t.Helper()
	var out Out
	err := i.Call(Filter, &out)
	testkit.Must(t, err)
	return out.Code
}

func TestInstancesOfAGuestHaveOneBudget(t *testing.T) {
	g := compile(t, "greedy")
	had := g.budget.held.Load()
	g.budget.limit = had + 200*abi.PageSize
	one, two := start(t, g), start(t, g)
	if filter(t, one) != 0 || filter(t, two) != 0 {
		t.Error("there is room for both")
	}
	testkit.Equal(t, g.budget.held.Load()-had, 2*64*abi.PageSize, "bytes that are held")
	testkit.Equal(t, filter(t, two), 1, "the code of a call beyond the budget")
	testkit.Must(t, one.Close(t.Context()))
	testkit.Equal(t, filter(t, two), 0, "the code after another one has given its memory back")
	for range 200 - 2*64 { // two has grown to that in the meantime
		start(t, g)
	}
	_, err := g.Start(t.Context(), Settings{})
	testkit.ErrorHas(t, err, "no room for another instance")
	testkit.Must(t, two.Close(t.Context()))
	testkit.Equal(t, g.budget.held.Load()-had, (200-2*64)*abi.PageSize, "bytes that are held after it has ended")
}

// took is how many bytes something allocates, and how many of them it keeps.
func took(do func()) (allocated, kept int64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	do()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// wazero keeps a stack for each function, which has as many bytes as it ever had.
func TestStackOfADeepCallIsNotKept(t *testing.T) {
	i := start(t, compile(t, "deep"))
	allocated, kept := took(func() {
		testkit.Equal(t, filter(t, i), 0, "the code")
	})
	if allocated < 16<<20 || kept > 1<<20 {
		t.Errorf("%d bytes, of which %d are kept", allocated, kept)
	}
}

func TestPathsOfWASIAreNotRead(t *testing.T) {
	i := start(t, compile(t, "paths"))
	allocated, _ := took(func() {
		testkit.Equal(t, filter(t, i), 8, "errno")
	})
	if allocated > 1<<20 {
		t.Errorf("%d bytes for a path of 12 MB", allocated)
	}
}

// Whatever a guest is, it loads or is refused, its calls end when they are interrupted, and it gives back what it held.
func FuzzGuest(f *testing.F) {
	for _, name := range []string{"../../abi/wild", "every_hook", "hungry", "deep", "paths", "greedy", "generous", "endless_calls", "decides_by", "trap_filter"} {
		wasm := testkit.ReadFile(f, guests+name+".wasm")
		f.Add(wasm)
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		g, err := Compile(t.Context(), wasm, Options{MemoryLimit: 1 << 20, Interruptible: true})
		if err != nil {
			return
		}
		defer g.Close(t.Context())
		had := g.budget.held.Load()
		for h := range hooks {
			i, err := g.Start(t.Context(), Settings{})
			if err != nil {
				return
			}
			if g.Exports.Has(h) {
				stop := time.AfterFunc(10*time.Millisecond, func() { i.Interrupt(errInterrupted) })
				err = i.Call(h, &Out{})
				stop.Stop()
				if err != nil && len(err.Error()) > 2*maxTrap {
					t.Errorf("an error of %d bytes", len(err.Error()))
				}
			}
			testkit.Must(t, i.Close(t.Context()))
		}
		testkit.Equal(t, g.budget.held.Load(), had, "bytes that are held")
	})
}
