package wasmhost

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// soon is a callTimeout for tests that wait for it. Calls that do not loop end within it on
// a busy machine too.
var soon = Timeout{300 * time.Millisecond}

func TestGuestThatLoopsBeforeThereIsAPodStopsTheStart(t *testing.T) {
	for config, export := range map[string]string{"s": "_start", "e": "enqueue", "d": "decides_by"} {
		err := startError(t, Args{GuestURL: fileURLOf("endless_hook"), GuestConfig: config, CallTimeout: soon})
		if !strings.Contains(message(err), "wasm: "+export+" error: ") || !strings.Contains(message(err), "callTimeout, 300ms") {
			t.Errorf("%s: %v", export, err)
		}
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
		pl := openWith(t, "endless_hook", Args{GuestConfig: config, CallTimeout: soon}, nil)
		state = framework.NewCycleState()
		if config != "p" {
			_, status := preFilter(t.Context(), pl, state, p)
			if !status.IsSuccess() {
				t.Fatal(status)
			}
		}
		status := call(pl)
		if status.Code() != fwk.Error || !strings.HasSuffix(status.Message(), "error: the call took longer than callTimeout, 300ms") {
			t.Errorf("%s: %v", config, status)
		}

		pl = openWith(t, "endless_hook", Args{GuestConfig: config, CallTimeout: soon, FailurePolicy: FailurePolicyIgnore}, nil)
		state = framework.NewCycleState()
		if config != "p" {
			preFilter(t.Context(), pl, state, p)
		}
		want := map[string]fwk.Code{"p": fwk.Skip, "b": fwk.Skip, "o": fwk.Unschedulable}[config] // else Success
		status = call(pl)
		if status.Code() != want {
			t.Errorf("%s, ignored: %v, want %v", config, status, want)
		}
	}
}

// Wazero looks for an interruption at the heads of loops alone.
func TestGuestWithoutLoopsIsInterrupted(t *testing.T) {
	for _, name := range []string{"chain", "recursion"} {
		pl := openWith(t, "endless_calls", Args{CallTimeout: soon}, nil)
		got := schedule(t.Context(), pl, pod("web"), "quick", name)
		if !got[0].IsSuccess() || got[1].Code() != fwk.Error || got[1].Message() != "wasm: filter error: the call took longer than callTimeout, 300ms" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Each call is of 65,000 names, and the guest itself does next to nothing.
func TestGuestThatOnlyCallsTheHostIsInterrupted(t *testing.T) {
	pl := openWith(t, "generous", Args{GuestConfig: "n100000,130000:a\x00", CallTimeout: soon}, nil)
	_, status := preFilter(t.Context(), pl, framework.NewCycleState(), pod("web"))
	if status.Code() != fwk.Error || status.Message() != "wasm: prefilter error: the call took longer than callTimeout, 300ms" {
		t.Errorf("got %v", status)
	}
}

// All goroutines of a cycle get the Error at the same time: the guest is asked
// once for each instance, and the collector runs meanwhile.
func TestGuestThatLoopsOnSixteenGoroutinesEndsThemAll(t *testing.T) {
	pl := openWith(t, "endless", Args{CallTimeout: soon}, nil)
	state, web := framework.NewCycleState(), pod("web")
	_, status := preFilter(t.Context(), pl, state, web)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			status := pl.(fwk.FilterPlugin).Filter(t.Context(), state, web, node("endless"))
			if status.Code() != fwk.Error {
				t.Errorf("got %v", status)
			}
		})
	}
	done := make(chan error)
	go func() {
		runtime.GC()
		all.Wait()
		done <- nil
	}()
	testkit.Must(t, testkit.EventuallyReceives(t, "all calls end", done))
	got := schedule(t.Context(), pl, pod("next"), "quick")
	if !got[0].IsSuccess() {
		t.Errorf("the next pod: %v", got)
	}
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
	testkit.Eventually(t, "the guest is called", func(context.Context) error {
		p.pool.mu.Lock()
		defer p.pool.mu.Unlock()
		if len(p.pool.free) == p.pool.slots {
			return errors.New("no call lasts")
		}
		return nil
	})
	testkit.Must(t, p.Close())
	status := testkit.EventuallyReceives(t, "the call ends", answered)
	if !strings.Contains(status.Message(), errClosed.Error()) {
		t.Errorf("got %v", status)
	}
	n, err := testutil.GetCounterMetricValue(traps.WithLabelValues(pl.Name()))
	if n != 0 || err != nil {
		t.Errorf("%v traps, want 0: an interrupted call is none; %v", n, err)
	}
}

func fileURLOf(guest string) string { return "file://" + guests + guest + ".wasm" }
