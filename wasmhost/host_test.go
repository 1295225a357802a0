package wasmhost

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/component-base/metrics/legacyregistry"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestMetricsOfAGuest(t *testing.T) {
	pl := openCounted(t, "trap_filter", Args{Instances: 1})
	state, p := framework.NewCycleState(), pod("web")
	state.SetRecordPluginMetrics(true)
	for _, name := range []string{"a", "b", "trap"} {
		pl.(fwk.FilterPlugin).Filter(t.Context(), state, p, node(name))
	}
	schedule(t.Context(), pl, p, "a") // not measured, and in another instance
	labels := `{plugin="` + t.Name() + `"}`
	hook := `{code="%",hook="filter",plugin="` + t.Name() + `"}`
	want := map[string]string{
		"scheduler_wasm_call_duration_seconds_count" + strings.Replace(hook, "%", "Success", 1): "2",
		"scheduler_wasm_call_duration_seconds_count" + strings.Replace(hook, "%", "Error", 1):   "1",
		"scheduler_wasm_guest_instances" + labels:                                               "1",
		"scheduler_wasm_guest_memory_bytes" + labels:                                            "65536",
		"scheduler_wasm_guest_traps_total" + labels:                                             "1",
	}
	got := gathered(t)
	for series, value := range want {
		if got[series] != value {
			t.Errorf("%s is %q, want %s", series, got[series], value)
		}
	}
	testkit.Must(t, inside(pl).Close())
	for _, series := range []string{"scheduler_wasm_guest_instances", "scheduler_wasm_guest_memory_bytes"} {
		got := gathered(t)[series+labels]
		if got != "0" {
			t.Errorf("after the end %s is %q", series, got)
		}
	}
}

// gathered is what stands on /metrics, by series.
func gathered(t *testing.T) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	legacyregistry.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	series := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok {
			n, err := strconv.ParseFloat(value, 64)
			if err == nil {
				series[name+"}"] = strconv.FormatFloat(n, 'f', -1, 64)
			}
		}
	}
	return series
}

func TestArgsThatWereNotParsedAreValidatedAtTheStart(t *testing.T) {
	for field, args := range map[string]Args{
		"memoryLimit":  {MemoryLimit: quantity(-1)},
		"answersLimit": {AnswersLimit: quantity(-1)},
		"instances":    {Instances: 2},
	} {
		args.GuestURL = fileURLOf("endless")
		err := startError(t, args)
		var about *ArgsError
		if !errors.As(err, &about) || about.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// hanging is the URL of a server that does not answer. asked has an element when it is asked.
func hanging(t *testing.T) (guestURL string, asked <-chan struct{}) {
	requests := make(chan struct{}, 10)
	return serve(t, func(_ http.ResponseWriter, r *http.Request) {
		requests <- struct{}{}
		<-r.Context().Done()
	}), requests
}

// A server that does not answer holds up neither other guests nor Close.
func TestHostThatFetchesHoldsUpNoOtherGuest(t *testing.T) {
	guestURL, asked := hanging(t)
	h := New(Options{Timeout: time.Hour})
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := h.Start(ctx, "Wasm", Args{GuestURL: guestURL})
		ended <- err
	}()
	testkit.EventuallyReceives(t, "the server is asked", asked)
	if _, err := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURLOf("endless")}); err != nil {
		t.Error(err)
	}
	testkit.Must(t, errors.Join(h.Close(), h.Close()))
	cancel(nil)
	if err := testkit.EventuallyReceives(t, "the start ends", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURLOf("endless")}); !errors.Is(err, errHostClosed) {
		t.Errorf("after the end: %v", err)
	}
}
