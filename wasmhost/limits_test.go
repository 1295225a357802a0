package wasmhost

import (
	"context"
	"strings"
	"testing"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

func TestAGuestThatWantsTooMuchMemoryIsReplaced(t *testing.T) {
	for _, guest := range []string{"hungry", "hungry_undeclared"} {
		pl := openWith(t, guest, Args{MemoryLimit: 64 << 20, Instances: 1}, nil)
		got := schedule(t.Context(), pl, pod("hungry"), "m", "m", "m", "m", "m")
		for i, want := range []fwk.Code{fwk.Success, fwk.Success, fwk.Success, fwk.Error, fwk.Error} {
			if got[i].Code() != want {
				t.Errorf("%s, call %d: %v, want %v", guest, i, got[i], want)
			}
		}
		if got := schedule(t.Context(), pl, pod("next"), "m", "n"); !got[0].IsSuccess() || !got[1].IsSuccess() {
			t.Errorf("%s, the next pod: %v", guest, got)
		}
	}
}

func TestAGuestThatNeedsTooMuchMemoryAtOnceDoesNotStart(t *testing.T) {
	h := &Host{}
	defer h.Close()
	_, err := h.Start(t.Context(), "Wasm", Args{GuestURL: "file://" + guests + "mirror.wasm", MemoryLimit: 128 << 10})
	if want := "wasm: guest needs 262144 bytes of memory at once, but memoryLimit is 131072"; !strings.HasSuffix(message(err), want) {
		t.Errorf("got %v", err)
	}
}

// Wazero would refuse it first, in words that name no arg.
func TestAGuestThatDeclaresNoMostNeedsTooMuchMemoryAtOnce(t *testing.T) {
	h := &Host{}
	defer h.Close()
	_, err := h.Start(t.Context(), "Wasm", Args{GuestURL: "file://../static/regex_v2.wasm", MemoryLimit: 1 << 20})
	if want := "but memoryLimit is 1048576"; !strings.HasSuffix(message(err), want) {
		t.Errorf("got %v, want …%s", err, want)
	}
}

func TestACallThatTakesTooLongIsInterrupted(t *testing.T) {
	pl := openWith(t, "endless", Args{CallTimeout: Duration(50 * time.Millisecond)}, nil)
	got := schedule(t.Context(), pl, pod("endless"), "quick", "endless")
	if !got[0].IsSuccess() || got[1].Code() != fwk.Error || got[1].Message() != "wasm: filter error: the call took longer than callTimeout, 50ms" {
		t.Errorf("got %v", got)
	}
	if got := schedule(t.Context(), pl, pod("next"), "quick"); !got[0].IsSuccess() {
		t.Errorf("the next pod: %v", got)
	}
}

func TestAStartThatTakesTooLongIsInterrupted(t *testing.T) {
	for config, export := range map[string]string{"s": "_start", "e": "enqueue", "d": "decides_by"} {
		h := &Host{}
		t.Cleanup(func() { h.Close() })
		failed := make(chan error, 1)
		go func() {
			_, err := h.Start(context.Background(), "Wasm", Args{
				GuestURL: "file://" + guests + "endless_start.wasm", GuestConfig: config, CallTimeout: Duration(50 * time.Millisecond),
			})
			failed <- err
		}()
		err := eventually.Receives(t, export+" is interrupted", failed)
		if want := "wasm: " + export + " error: the call took longer than callTimeout, 50ms"; !strings.HasSuffix(message(err), want) {
			t.Errorf("got %v, want …%s", err, want)
		}
	}
}

func TestAtTheStartThereIsNothingToAskAbout(t *testing.T) {
	h := &Host{}
	t.Cleanup(func() { h.Close() })
	if _, err := h.Start(t.Context(), "Wasm", Args{GuestURL: "file://" + guests + "early_calls.wasm"}); err != nil {
		t.Error(err)
	}
}

func TestACallThatDoesNotEndIsUnhealthy(t *testing.T) {
	h := &Host{}
	h.watch.after = 100 * time.Millisecond
	defer h.Close()
	// The timeout is there to end the test, not the call.
	args := Args{GuestURL: "file://" + guests + "endless.wasm", CallTimeout: Duration(time.Minute)}
	pl, err := h.open(t.Context(), "Endless", args, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Healthy(); err != nil {
		t.Errorf("at first: %v", err)
	}
	go pl.(fwk.FilterPlugin).Filter(t.Context(), framework.NewCycleState(), pod("web"), node("endless"))
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := h.Healthy()
		if err != nil {
			if want := "plugin Endless: a call of guest " + args.GuestURL + " has not returned for "; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v", err)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a call has not ended for 20 s, and the host is healthy")
		}
	}
}
