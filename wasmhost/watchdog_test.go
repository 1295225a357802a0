package wasmhost

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// soon is a callTimeout for tests that wait for it. Calls that do not loop end within it on
// a busy machine too.
var soon = Timeout{300 * time.Millisecond}

func TestGuestThatLoopsBeforeThereIsAPodStopsTheStart(t *testing.T) {
	testkit.OnOneMinor(t)
	for config, export := range map[string]string{"s": "_start", "e": "enqueue", "d": "decides_by"} {
		err := startError(t, Args{GuestURL: fileURLOf("endless_hook"), GuestConfig: config, CallTimeout: soon})
		testkit.Has(t, testkit.Message(err), "wasm: "+export+" error: ", "callTimeout, 300ms")
	}
}

func TestGuestThatLoopsCostsItsPodAnError(t *testing.T) {
	p, state, n := pod("web"), framework.NewCycleState(), node("n")
	hooks := map[string]func(pl fwk.Plugin) *fwk.Status{
		"p": func(pl fwk.Plugin) *fwk.Status { _, s := preFilter(t.Context(), pl, state, p); return s },
		"f": func(pl fwk.Plugin) *fwk.Status { return pl.(fwk.FilterPlugin).Filter(t.Context(), state, p, n) },
		"o": func(pl fwk.Plugin) *fwk.Status {
			_, s := pl.(fwk.PostFilterPlugin).PostFilter(t.Context(), state, p, framework.NewDefaultNodeToStatus())
			return s
		},
		"b": func(pl fwk.Plugin) *fwk.Status { return pl.(fwk.BindPlugin).Bind(t.Context(), state, p, "n") },
	}
	for config, call := range hooks {
		loops := func(policy FailurePolicy) *fwk.Status {
			pl := openWith(t, "endless_hook", Args{GuestConfig: config, CallTimeout: soon, FailurePolicy: policy}, nil)
			state = framework.NewCycleState()
			if config != "p" {
				_, status := preFilter(t.Context(), pl, state, p)
				testkit.Succeeds(t, status)
			}
			return call(pl)
		}
		status := loops(FailurePolicyFail)
		if status.Code() != fwk.Error || !strings.HasSuffix(status.Message(), "error: the call took longer than callTimeout, 300ms") {
			t.Errorf("%s: %v", config, status)
		}
		want := map[string]fwk.Code{"p": fwk.Skip, "b": fwk.Skip, "o": fwk.Unschedulable}[config] // else Success
		status = loops(FailurePolicyIgnore)
		testkit.Equal(t, status.Code(), want, "%s, ignored: %v", config, status)
	}
}

// Wazero looks for an interruption at the heads of loops alone.
func TestGuestWithoutLoopsIsInterrupted(t *testing.T) {
	for _, name := range []string{"chain", "recursion"} {
		pl := openWith(t, "endless_calls", Args{CallTimeout: soon}, nil)
		got := schedule(t.Context(), pl, pod("web"), "quick", name)
		testkit.Succeeds(t, got[0])
		testkit.Equal(t, said(got[1]), "Error: wasm: filter error: the call took longer than callTimeout, 300ms", "%s", name)
	}
}

// Each call is of 65,000 names, and the guest itself does next to nothing.
func TestGuestThatOnlyCallsTheHostIsInterrupted(t *testing.T) {
	pl := openWith(t, "generous", Args{GuestConfig: "n100000,130000:a\x00", CallTimeout: soon}, nil)
	_, status := preFilter(t.Context(), pl, framework.NewCycleState(), pod("web"))
	testkit.Equal(t, said(status), "Error: wasm: prefilter error: the call took longer than callTimeout, 300ms", "the status")
}

// All goroutines of a cycle get the Error at the same time: the guest is asked
// once for each instance, and the collector runs meanwhile.
func TestGuestThatLoopsOnSixteenGoroutinesEndsThemAll(t *testing.T) {
	testkit.OnOneMinor(t)
	pl := openWith(t, "endless", Args{CallTimeout: soon}, nil)
	state, web := framework.NewCycleState(), pod("web")
	_, status := preFilter(t.Context(), pl, state, web)
	testkit.Succeeds(t, status)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			status := pl.(fwk.FilterPlugin).Filter(t.Context(), state, web, node("endless"))
			testkit.Equal(t, status.Code(), fwk.Error, "the code: %v", status)
		})
	}
	done := make(chan error)
	go func() {
		runtime.GC()
		all.Wait()
		done <- nil
	}()
	testkit.Must(t, testkit.EventuallyReceives(t, "all calls end", done))
	testkit.Succeeds(t, schedule(t.Context(), pl, pod("next"), "quick")[0])
}

// The guest would loop for an hour.
func TestHostThatIsClosedWaitsForNoGuest(t *testing.T) {
	pl := openWith(t, "endless", Args{CallTimeout: Timeout{time.Hour}}, nil)
	traps.Reset()
	answered := make(chan *fwk.Status)
	go func() {
		answered <- pl.(fwk.FilterPlugin).Filter(t.Context(), framework.NewCycleState(), pod("web"), node("endless"))
	}()
	p := inside(pl)
	testkit.EventuallyHolds(t, "the guest is called", func() bool { return runs(p, true) })
	testkit.Must(t, p.Close())
	testkit.Has(t, testkit.EventuallyReceives(t, "the call ends", answered).Message(), errClosed.Error())
	testkit.Equal(t, counted(t, traps), 0, "traps: an interrupted call is none")
}

func fileURLOf(guest string) string { return "file://" + guests + guest + ".wasm" }
