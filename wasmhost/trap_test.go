package wasmhost

import (
	"errors"
	"io"
	"slices"
	"sync"
	"testing"

	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestCycleGoesOnWhileAnotherTraps(t *testing.T) {
	pl := open(t, "trap_filter").(fwk.FilterPlugin)
	mine, other := framework.NewCycleState(), framework.NewCycleState()
	preFilter(t.Context(), pl, mine, pod("mine"))
	preFilter(t.Context(), pl, other, pod("other"))
	status := pl.Filter(t.Context(), other, pod("other"), node("trap"))
	if status.Code() != fwk.Error {
		t.Fatal(status)
	}
	status = pl.Filter(t.Context(), mine, pod("mine"), node("a"))
	if !status.IsSuccess() {
		t.Error(status)
	}
}

func TestClosedGuestAnswersWithAnError(t *testing.T) {
	pl := open(t, "trap_filter")
	for range 2 {
		testkit.Must(t, pl.(io.Closer).Close())
	}
	got := schedule(t.Context(), pl, pod("p"), "a")[0]
	if got.AsError() != errClosed {
		t.Errorf("got %v", got)
	}
}

// An importer that calls plugins itself learns by errors.Is what was wrong.
func TestErrorsOfAGuestHaveACause(t *testing.T) {
	causes := []error{ErrClosed, ErrTimeout, ErrTrap}
	closed := open(t, "trap_filter")
	testkit.Must(t, closed.(io.Closer).Close())
	h := New(fromFiles)
	testkit.Must(t, h.Close())
	_, hostClosed := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURLOf("trap_filter")})
	for _, tt := range []struct{ err, want error }{
		{schedule(t.Context(), closed, pod("p"), "a")[0].AsError(), ErrClosed},
		{hostClosed, ErrClosed},
		{schedule(t.Context(), openWith(t, "endless", Args{CallTimeout: soon}, nil), pod("p"), "endless")[0].AsError(), ErrTimeout},
		{startError(t, Args{GuestURL: fileURLOf("endless_hook"), GuestConfig: "e", CallTimeout: soon}), ErrTimeout},
		{schedule(t.Context(), open(t, "trap_filter"), pod("p"), "trap")[0].AsError(), ErrTrap},
		{startError(t, Args{GuestURL: fileURLOf("start_exit")}), ErrTrap},
	} {
		for _, cause := range causes {
			if errors.Is(tt.err, cause) != (cause == tt.want) {
				t.Errorf("%v: is it %q? %v", tt.err, cause, errors.Is(tt.err, cause))
			}
		}
	}
}

func TestGuestThatTakesPartInBindingIsReplacedToo(t *testing.T) {
	pl := open(t, "filter_permit")
	schedule(t.Context(), pl, pod("unlucky"), "a", "trap")
	got := schedule(t.Context(), pl, pod("after"), "b")[0]
	if !got.IsSuccess() {
		t.Errorf("after the trap: %v", got)
	}
}

// The calls of a cycle that wait for the one instance do not repeat the trap.
func TestTrapIsTheLastCallOfItsCycle(t *testing.T) {
	pl := openCounted(t, "trap_filter", Args{Instances: 1})
	unlucky, state := pod("unlucky"), framework.NewCycleState()
	preFilter(t.Context(), pl, state, unlucky)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			status := pl.(fwk.FilterPlugin).Filter(t.Context(), state, unlucky, node("trap"))
			if status.Code() != fwk.Error {
				t.Error(status)
			}
		})
	}
	group.Wait()
	got, err := testutil.GetCounterMetricValue(traps.WithLabelValues(t.Name()))
	if got != 1 || err != nil {
		t.Errorf("%v traps counted, want 1 (%v)", got, err)
	}
}

func TestGuestThatFailsIsSkippedWhereItsArgsSaySo(t *testing.T) {
	pl := openCounted(t, "trap_filter", Args{FailurePolicy: FailurePolicyIgnore})
	for range 2 { // a new instance takes part in the next pod's cycle
		got := codes(schedule(t.Context(), pl, pod("unlucky"), "a", "trap", "b"))
		if !slices.Equal(got, []fwk.Code{fwk.Success, fwk.Success, fwk.Success}) {
			t.Errorf("got %v", got)
		}
	}
	got, err := testutil.GetCounterMetricValue(skipped.WithLabelValues(t.Name()))
	if got != 2 || err != nil {
		t.Errorf("skipped in %v attempts, want 2 (%v)", got, err)
	}
}
