package wasmhost

import (
	"context"
	"errors"
	"fmt"
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
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
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
		"scheduler_wasm_guest_replacements_total" + labels:                                      "1",
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
	eventually.Receives(t, "the server is asked", asked)
	if _, err := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURLOf("endless")}); err != nil {
		t.Error(err)
	}
	testkit.Must(t, errors.Join(h.Close(), h.Close()))
	cancel(nil)
	if err := eventually.Receives(t, "the start ends", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURLOf("endless")}); !errors.Is(err, errHostClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// The first that asks for a guest may be cancelled while another one waits for the same guest.
func TestHostStartOutlivesTheFirstOne(t *testing.T) {
	asked := make(chan struct{}, 10)
	first := true
	guestURL := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		if first {
			first = false
			<-r.Context().Done()
			return
		}
		_, _ = w.Write(readGuest(t, "empty_filter"))
	})
	h := New(Options{Timeout: time.Hour})
	defer h.Close()
	start := func(ctx context.Context) <-chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := h.Start(ctx, "Wasm", Args{GuestURL: guestURL})
			ended <- err
		}()
		return ended
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := start(ctx)
	eventually.Receives(t, "the server is asked", asked)
	waits := start(t.Context())
	eventually.Succeeds(t, "two wait for the guest", func(context.Context) error { return users(h, 2) })
	cancel()
	if err := eventually.Receives(t, "the first start ends", cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
	if err := eventually.Receives(t, "the second start ends", waits); err != nil {
		t.Errorf("the second: %v", err)
	}
	testkit.Must(t, users(h, 1))
}

// users returns an error unless the one guest of a host has so many.
func users(h *Host, want int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.guests {
		if g.users == want {
			return nil
		}
		return fmt.Errorf("%d users", g.users)
	}
	return errors.New("no guest")
}

// Neither a start that fails nor a plugin that is closed ends it for others.
func TestHostKeepsAGuestAsLongAsAPluginHasIt(t *testing.T) {
	h := New(Options{})
	defer h.Close()
	args := Args{GuestURL: fileURL("regex_v2")}
	var plugins []fwk.Plugin
	for range 2 {
		pl, err := h.open(t.Context(), "Wasm", args, nil)
		testkit.Must(t, err)
		plugins = append(plugins, pl)
	}
	args.GuestConfig = "no object"
	_, err := h.Start(t.Context(), "Other", args)
	if !strings.Contains(message(err), "guestConfig: want a JSON object") {
		t.Errorf("the other guest: %v", err)
	}
	testkit.Must(t, inside(plugins[0]).Close())
	_, status := preFilter(t.Context(), plugins[1], framework.NewCycleState(), pod("web"))
	if !status.IsSkip() {
		t.Errorf("the other plugin: %v", status)
	}
	err = errors.Join(users(h, 1), inside(plugins[1]).Close())
	if err != nil || len(h.guests) > 0 {
		t.Errorf("%d guests, %v", len(h.guests), err)
	}
}
